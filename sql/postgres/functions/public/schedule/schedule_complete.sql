-- Marks a slice as completed before its message is done, for example in the handler's own transaction. False: it is not the shard's
-- newest slice, or is completed already. BX002: there is no such schedule.
create or replace function :"schema".schedule_complete(topic text, work_key text, shard int, slice bigint) returns boolean
language plpgsql volatile security definer :pinned set lock_timeout = '5s' as $$
declare
    s :"schema".schedule_row;
    ts constant timestamptz := clock_timestamp();
begin
    perform :"schema"._fault('', case
        when shard is null then array['shard', 'is null: give the number of a shard']
        when slice is null then array['slice', 'is null: give the number of a slice'] end);
    s := :"schema"._find_schedule(topic, work_key);
    update :"schema".schedule_shard x set completed_at = ts, due_at = ts + :"schema"._next_after(s)
    where x.id = s.id and x.shard = schedule_complete.shard and x.slice = schedule_complete.slice and x.due_at is null;
    return found;
end $$;
