-- A delay in milliseconds; null stays null (the default of the operation).
create or replace function :"schema"._check_delay(delay interval) returns bigint
language plpgsql immutable :pinned as $$
begin
    if delay < interval '0' or delay > interval ':delay_days_max days' then
        perform :"schema"._invalid('delay', 'is out of range: give 0 to :delay_days_max days');
    end if;
    return extract(epoch from delay) * 1000;
end $$;
