-- The rules for the start of a read and for the most events that it returns.
create or replace function :"schema"._check_event_page(argument text, start bigint, max_events int) returns void
language plpgsql immutable :pinned as $$
declare
    fault constant text[] := case
        when start is null or start < 0 then array[argument, 'is out of range: give 0 or more']
        when max_events is null or max_events not between 1 and :event_count_max
            then array['max_events', 'is out of range: give 1 to :event_count_max'] end;
begin
    if fault is not null then
        perform :"schema"._invalid(fault[1], fault[2]);
    end if;
end $$;
