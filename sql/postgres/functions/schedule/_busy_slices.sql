-- Locks the open slices whose messages are about to be removed. Returns the messages whose slice another transaction is changing: they
-- are for another time, since that transaction may leave the slice open, and then has to find that it was done.
create or replace function :"schema"._busy_slices(ids bigint[]) returns bigint[]
language plpgsql volatile :hot as $$
begin
    return array(
        select x.work_id from :"schema".schedule_shard x
        left join lateral (
            select true as ours from :"schema".schedule_shard y where y.id = x.id and y.shard = x.shard for update skip locked) l on true
        where x.work_id = any (ids) and x.due_at is null and l.ours is null);
end $$;
