-- Ends a pause of a schedule. What was due meanwhile is due now.
create or replace function :"schema".schedule_resume(topic text, work_key text) returns void
language plpgsql volatile security definer :pinned set lock_timeout = '5s' as $$
declare
    s constant :"schema".schedule_row := :"schema"._hold_schedule(topic, work_key);
begin
    update :"schema".schedule_row x set paused_at = null where x.id = s.id and x.paused_at is not null;
    update :"schema".schedule_shard x set runs = true where x.id = s.id and not x.runs;
end $$;
