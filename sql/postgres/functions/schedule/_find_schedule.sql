-- A schedule by its topic and work key. BX002: there is none.
create or replace function :"schema"._find_schedule(p_topic text, p_work_key text) returns :"schema".schedule_row
language plpgsql stable :pinned as $$
declare
    s :"schema".schedule_row;
begin
    perform :"schema"._fault('', case
        when p_topic is null then array['topic', 'is null: give the topic of a schedule']
        when p_work_key is null then array['work_key', 'is null: give the work key of a schedule'] end);
    select * into s from :"schema".schedule_row x where x.topic = p_topic and x.work_key = p_work_key;
    if not found then
        raise exception using errcode = 'BX002', column = 'schedule',
            message = 'there is no schedule with this topic and work key',   -- they may be anything
            hint = 'boxcar schedule ls lists them.';
    end if;
    return s;
end $$;
