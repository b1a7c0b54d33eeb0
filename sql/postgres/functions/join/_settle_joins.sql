-- Brings joins, which the caller has locked, up to date. Joins past their deadline end. Steps that were left for later
-- (_count_later) are counted. Members that were attached apart from enqueueing are looked at when their time has come:
-- a message that ended before it was known to count is counted now (BX-042). A message that has not ended is counted by
-- its end, if that sees the member; further looks, at growing intervals, make sure. A member whose row is locked,
-- because its message is being enqueued, is left for the next time. Returns how many were counted and looked at.
create or replace function :"schema"._settle_joins(p_joins uuid[], ts timestamptz, out counted bigint, out looked_at bigint)
language plpgsql volatile :hot set enable_sort = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    overdue uuid[] := array(
        select i from unnest(p_joins) i cross join lateral (
            select j.status, j.deadline from :"schema".join_row j where j.join_id = i limit 1) j
        where j.status = 0 and j.deadline <= ts);
    done bigint[];
    flag bigint;   -- a message is not there and may come
    dead bigint[];
    late record;
    ended int8multirange;
begin
    counted := 0;
    if overdue <> '{}' then
        perform :"schema"._end_joins(overdue, 2::smallint, 1::smallint, ts);
    end if;
    with taken as (
        delete from :"schema".late_step l
        where l.ctid = any (array(
            select x.ctid from :"schema".late_step x where x.join_id = any (p_joins)
            order by x.join_id, x.step_no limit 2000))
        returning int8range(l.first_id, l.last_id, '[]') as steps, l.outcome)
    select count(*) as n, coalesce(range_agg(t.steps) filter (where t.outcome = 1), '{}') as done,
           coalesce(range_agg(t.steps) filter (where t.outcome = 2), '{}') as dead
    into late from taken t;
    with looked as materialized (
        select m.tid, v.work_id as seen_id, x.work_id, x.box, v.status <> 0 or j.status <> 0 as is_over
        from unnest(p_joins) i
        cross join lateral (
            select m.ctid as tid, m.message_id from :"schema".join_member m
            where m.join_id = i and m.check_at <= ts
            order by m.check_at limit 2000 for no key update skip locked) m
        cross join lateral (
            select v.work_id, v.status from :"schema"._join_member v
            where v.join_id = i and v.message_id = m.message_id limit 1) v
        cross join lateral (select j.status from :"schema".join_row j where j.join_id = i limit 1) j
        left join lateral (
            select x.work_id, x.box from :"schema".message x where x.message_id = m.message_id limit 1) x on true
        limit 10000),
    known as (   -- a message that was purged before it could count may come again under another work id
        update :"schema".join_member m
        set in_span = m.in_span and (l.is_over or case when l.work_id is not null then m.work_id = l.work_id
                                                       else m.work_id is distinct from l.seen_id end),
            work_id = case when l.is_over then m.work_id when l.work_id is not null then l.work_id
                           when m.work_id = l.seen_id then null else m.work_id end,
            check_at = case when not l.is_over then ts + least(
                greatest(interval '1 second', ts - m.created_at), interval '1 hour') end
        from looked l where m.ctid = l.tid)
    select array_agg(l.work_id) filter (where not l.is_over and exists (
               select from :"schema"._finished(l.box, l.work_id) f where f.at > '-infinity')),
           max(setval(':"schema".awaited_flag', 1)) filter (where l.work_id is null and not l.is_over
               and pg_sequence_last_value(':"schema".awaited_flag') is null),
           array_agg(l.work_id) filter (where not l.is_over and exists (
               select from :"schema".dead d where d.work_id = l.work_id and d.box = l.box
               union all select from :"schema"._finished(l.box, l.work_id) f where f.at = '-infinity')),
           count(*)
    into done, flag, dead, looked_at from looked l;
    looked_at := looked_at + late.n;
    -- Failures first: a message that failed, was replayed and then completed was a failure for its joins.
    ended := late.dead + :"schema"._multirange(dead);
    if not isempty(ended) then
        counted := :"schema"._count_steps(ended, 2::smallint, ts, p_joins);
    end if;
    ended := late.done + :"schema"._multirange(done);
    if not isempty(ended) then
        counted := counted + :"schema"._count_steps(ended, 1::smallint, ts, p_joins);
    end if;
end $$;
