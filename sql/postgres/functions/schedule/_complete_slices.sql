-- Notes that the messages of these open slices were done: the last chance before upkeep removes the messages. The caller has locked
-- the slices (_busy_slices).
create or replace function :"schema"._complete_slices(p_work_ids bigint[]) returns void
language plpgsql volatile :hot set enable_hashjoin = on as $$
declare
    ts constant timestamptz := clock_timestamp();
begin
    update :"schema".schedule_shard x set completed_at = ts, due_at = ts + :"schema"._next_after(s)
    from :"schema".schedule_row s
    where x.work_id = any (p_work_ids) and x.due_at is null and s.id = x.id;
end $$;
