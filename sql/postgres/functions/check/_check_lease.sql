-- How long a lease may be.
create or replace function :"schema"._check_lease(lease interval) returns void
language plpgsql immutable :pinned as $$
begin
    if lease is null or lease < interval ':lease_ms_min milliseconds' or lease > interval ':lease_hours_max hours' then
        perform :"schema"._invalid('lease', 'is out of range: give :lease_ms_min milliseconds to :lease_hours_max hours');
    end if;
end $$;
