-- Brings joins, which the caller has locked, up to date: those past their deadline end, and members
-- attached apart from enqueueing are looked at whose time has come: a message that ended before it was
-- known to count is counted now (BX-042). A message that has not ended is counted by its end, if that saw
-- the member; one more look, later and later, makes sure. A member whose row somebody holds, because he
-- enqueues its message, is left for the next time. Says how many
-- were counted and looked at.
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
begin
    counted := 0;
    if overdue <> '{}' then
        perform :"schema"._end_joins(overdue, 2::smallint, 1::smallint, ts);
    end if;
    with looked as materialized (
        select m.tid, v.work_id as seen_id, x.work_id, v.status <> 0 or j.status <> 0 as is_over
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
            select x.work_id from :"schema".message x where x.message_id = m.message_id limit 1) x on true
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
               select from :"schema"._finished(l.work_id))),
           max(setval(':"schema".awaited_flag', 1)) filter (where l.work_id is null and not l.is_over
               and pg_sequence_last_value(':"schema".awaited_flag') is null),
           array_agg(l.work_id) filter (where not l.is_over and exists (
               select from :"schema".dead d where d.work_id = l.work_id)),
           count(*)
    into done, flag, dead, looked_at from looked l;
    if done is not null then
        counted := :"schema"._count_steps(:"schema"._multirange(done), 1::smallint, ts, p_joins);
    end if;
    if dead is not null then
        counted := counted + :"schema"._count_steps(:"schema"._multirange(dead), 2::smallint, ts, p_joins);
    end if;
end $$;
