-- Enqueues the slices that are due, at most `most`, under the lease of the planner (docs/fanout.md). Workers do this. fence: that of the
-- lease, which rises when the lease goes to another owner; without one the lease is taken if it is free, has run out, or is this
-- owner's. The answer has the fence, or 0 if another planner has the lease; how many slices were enqueued; and when to plan again at
-- the latest. BX003: the fence is not that of the lease any more.
--
-- Completed slices cost nothing: this looks at open slices and at shards that are due. It waits for no other transaction: what one
-- holds is left to the next plan.
create or replace function :"schema".schedule_plan(
    owner uuid, lease interval default '1 minute', inout fence bigint default null, most int default 1000,
    out count int, out next_due_at timestamptz)
language plpgsql volatile security definer :hot set enable_hashjoin = on as $$
declare
    ts timestamptz;
    due_count int;
    part record;
begin
    perform :"schema"._check_lease(lease);
    perform :"schema"._fault('', case
        when owner is null or owner = '00000000-0000-0000-0000-000000000000' then array['owner', 'must be a UUID that is not nil']
        when fence < 0 then array['fence', 'is out of range: give that of an earlier plan, or null']
        when (most between 1 and :batch_size_max) is not true then array['most', 'is out of range: give 1 to :batch_size_max'] end);
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004', message = 'schedule_plan works under READ COMMITTED only';
    end if;
    count := 0;
    fence := :"schema"._take_planning(owner, lease, fence);
    ts := clock_timestamp();
    if fence = 0 then
        next_due_at := (select greatest(p.until, ts + interval '1 second') from :"schema".schedule_planner p);
        return;
    end if;

    -- What has been done is completed. What has ended otherwise comes again, and leaves room for what is due.
    due_count := (
        select count(*) from (select from :"schema".schedule_shard x where x.runs and x.due_at <= ts limit most / 2) x);
    for part in
        with ended as (
            select y.id, y.shard, y.slice, d.done_at from :"schema"._slice_ends() d
            join :"schema".schedule_shard y on y.id = d.id and y.shard = d.shard and y.message_id = d.message_id
            where y.due_at is null and y.runs for update of y skip locked),
        done as (
            update :"schema".schedule_shard x set completed_at = e.done_at, due_at = e.done_at + :"schema"._next_after(s)
            from ended e join :"schema".schedule_row s on s.id = e.id
            where x.id = e.id and x.shard = e.shard and e.done_at is not null)
        select e.id, array_agg(e.shard) as shards, array_agg(e.slice) as slices from (
            select e.id, e.shard, e.slice from ended e where e.done_at is null order by e.id, e.shard limit most - due_count) e
        group by e.id
    loop
        count := count + :"schema"._enqueue_slices(part.id, part.shards, part.slices, true, ts);
    end loop;
    -- What is due.
    for part in
        select e.id, array_agg(e.shard order by e.shard) as shards, array_agg(e.slice + 1 order by e.shard) as slices from (
            select x.id, x.shard, x.slice from :"schema".schedule_shard x
            where x.runs and x.due_at <= ts order by x.due_at limit most - count for update skip locked) e
        group by e.id
    loop
        count := count + :"schema"._enqueue_slices(part.id, part.shards, part.slices, false, ts);
    end loop;
    next_due_at := case when count = most then ts else :"schema"._next_plan(ts) end;
end $$;
