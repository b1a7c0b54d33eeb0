-- Locks a schedule for a change. BX002: there is none.
create or replace function :"schema"._hold_schedule(p_topic text, p_work_key text) returns :"schema".schedule_row
language plpgsql volatile :pinned as $$
begin
    perform from :"schema".schedule_row x where x.topic = p_topic and x.work_key = p_work_key for update;
    return :"schema"._find_schedule(p_topic, p_work_key);
end $$;
