-- Whether `size` bytes are within a limit that is a setting; if not, raises BX001. Callers ask only for large values.
create or replace function :"schema"._fits(argument text, size bigint, limit_name text, fallback double precision)
returns boolean language plpgsql stable :pinned as $$
declare
    most bigint := :"schema"._setting(limit_name, fallback);
begin
    if size > most then
        perform :"schema"._invalid(argument, format('has %s bytes, more than the %s that the setting %s allows',
                                               size, most, limit_name));
    end if;
    return true;
end $$;
