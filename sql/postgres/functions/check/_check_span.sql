-- A stretch of time before or after now. The caller handles null.
create or replace function :"schema"._check_span(argument text, span interval) returns void
language plpgsql immutable :pinned as $$
begin
    if span < interval '0' or span > interval ':delay_days_max days' then
        perform :"schema"._invalid(argument, 'is out of range: give 0 to :delay_days_max days');
    end if;
end $$;
