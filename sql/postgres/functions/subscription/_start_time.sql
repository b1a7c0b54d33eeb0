-- The time at which a subscription starts, checked; null: it starts at the end or the beginning.
create or replace function :"schema"._start_time(start_at text) returns timestamptz
language plpgsql stable :pinned as $$
declare
    start_time timestamptz;
begin
    if start_at in ('end', 'beginning') then
        return null;
    end if;
    begin
        start_time := start_at::timestamptz;
    exception when data_exception then
        start_time := null;
    end;
    if (start_time between '1970-01-01Z' and '9999-12-31Z') is not true then
        perform :"schema"._invalid('start_at', 'must be end, beginning, or a time');
    end if;
    if start_time > clock_timestamp() then
        perform :"schema"._invalid('start_at', 'lies in the future: give one that has been');
    end if;
    return start_time;
end $$;
