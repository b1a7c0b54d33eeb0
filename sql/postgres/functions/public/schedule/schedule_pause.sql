-- Nothing more is planned for a schedule. What is enqueued stays. To pause twice is fine.
create or replace function :"schema".schedule_pause(topic text, work_key text) returns void
language plpgsql volatile security definer :pinned set lock_timeout = '5s' as $$
declare
    s constant :"schema".schedule_row := :"schema"._hold_schedule(topic, work_key);
begin
    update :"schema".schedule_row x set paused_at = clock_timestamp() where x.id = s.id and x.paused_at is null;
    update :"schema".schedule_shard x set runs = false where x.id = s.id and x.runs;
end $$;
