-- Whether a text is a value of this type: timestamptz, interval, uuid, int or bigint. Null counts as one.
create or replace function :"schema"._is_castable(value text, type text) returns boolean
language plpgsql stable as $$
begin
    case type
        when 'timestamptz' then perform value::timestamptz;
        when 'interval' then perform value::interval;
        when 'uuid' then perform value::uuid;
        when 'int' then perform value::int;
        when 'bigint' then perform value::bigint;
    end case;
    return true;
exception when data_exception then
    return false;
end $$;
