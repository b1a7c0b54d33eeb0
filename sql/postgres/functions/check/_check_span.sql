-- A stretch of time before or after now. Null is for the caller to understand.
create or replace function :"schema"._check_span(argument text, span interval) returns void
language plpgsql immutable :pinned as $$
begin
    if span < interval '0' or span > interval '3650 days' then
        perform :"schema"._invalid(argument, 'is out of range: give 0 to 3650 days');
    end if;
end $$;
