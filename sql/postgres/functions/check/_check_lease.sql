-- How long a lease may be.
create or replace function :"schema"._check_lease(lease interval) returns void
language plpgsql immutable :pinned as $$
begin
    if lease is null or lease < interval '100 milliseconds' or lease > interval '24 hours' then
        perform :"schema"._invalid('lease', 'is out of range: give 100 milliseconds to 24 hours');
    end if;
end $$;
