-- Notes that the messages of these open slices were done: the last chance before upkeep removes the messages. A slice that another
-- transaction is changing is left to that one.
create or replace function :"schema"._complete_slices(p_work_ids bigint[]) returns void
language plpgsql volatile :hot set enable_hashjoin = on as $$
declare
    ts constant timestamptz := clock_timestamp();
begin
    update :"schema".schedule_shard x set completed_at = ts, due_at = ts + :"schema"._next_after(s)
    from (select y.id, y.shard from :"schema".schedule_shard y where y.work_id = any (p_work_ids) and y.due_at is null
          for update skip locked) y
    join :"schema".schedule_row s on s.id = y.id
    where x.id = y.id and x.shard = y.shard;
end $$;
