-- Counts messages that have ended as steps of their joins: each pending member once, never more than a join expects
-- (the oldest messages first). Ends the joins that are full or past their deadline. Joins are locked in the order of
-- their ids (_lock_in_time) before their counters and outcomes are looked at, so this sees what others counted
-- meanwhile; the set of members does not change. A join that another transaction holds for long is left for later.
-- p_only: just these joins, which the caller has locked. Returns how many were counted.
--
-- Mostly the members of a join among the messages are neighbours: then one row has the outcome of all. Lookups are
-- written so that only one index can serve each, whatever the planner knows when it plans them.
create or replace function :"schema"._count_steps(
    items int8multirange, p_outcome smallint, ts timestamptz, p_only uuid[] default null)
returns bigint language plpgsql volatile as $$
#variable_conflict use_column
declare
    joins uuid[];
    firsts bigint[];   -- of each join's members here: the first and the last, and how many
    lasts bigint[];
    counts bigint[];
    lanes smallint[];   -- to count in; null: another transaction holds the join
    counted bigint;
    overdue uuid[];
    full_ones uuid[];
    scattered uuid[];
begin
    select array_agg(f.join_id order by f.join_id), array_agg(f.first_id order by f.join_id),
           array_agg(f.last_id order by f.join_id), array_agg(f.n order by f.join_id)
    into joins, firsts, lasts, counts
    from (select s.join_id, min(s.first_id) as first_id, max(s.last_id) as last_id,
                 sum(s.last_id - s.first_id + 1)::bigint as n
          from :"schema"._steps(items) s where p_only is null or s.join_id = any (p_only)
          group by s.join_id) f;
    if joins is null then
        return 0;
    end if;
    if p_only is null then
        lanes := :"schema"._lock_in_time(joins, counts);
        if array_position(lanes, null) is not null then
            perform :"schema"._count_later(items, p_outcome, array(
                select i.join_id from unnest(joins, lanes) i(join_id, lane) where i.lane is null), ts);
        end if;
    else
        lanes := array_fill(0::smallint, array[cardinality(joins)]);
    end if;

    with chosen as materialized (
        select f.join_id, f.lane, f.first_id, p.seq, p.room, coalesce(j.deadline <= ts, false) as is_overdue,
               least(f.n, p.room) as steps,
               f.last_id - f.first_id + 1 = f.n and coalesce((
                   select o.last_id < f.first_id from :"schema".join_outcome o
                   where o.join_id = f.join_id and o.first_id <= f.last_id
                   order by o.first_id desc limit 1), true) as is_run
        from unnest(joins, firsts, lasts, counts, lanes) f(join_id, first_id, last_id, n, lane)
        cross join lateral (
            select j.status, j.expected_steps, j.deadline, j.last_lane from :"schema".join_row j
            where j.join_id = f.join_id limit 1) j
        cross join lateral (
            select max(p.seq) filter (where l.lane = f.lane) as seq,
                   j.expected_steps - sum(p.completed_steps + p.failed_steps) as room
            from generate_series(0, j.last_lane) l(lane) cross join lateral (
                select p.seq, p.completed_steps, p.failed_steps from :"schema".join_progress p
                where p.join_id = f.join_id and p.lane = l.lane order by p.seq desc limit 1) p) p
        where f.lane is not null and j.status = 0),
    marked as (
        insert into :"schema".join_outcome (join_id, first_id, last_id, status)
        select c.join_id, c.first_id, c.first_id + c.steps - 1, p_outcome
        from chosen c where c.is_run and not c.is_overdue),
    moved as (
        update :"schema".join_progress p
        set seq = p.seq + 1,
            completed_steps = p.completed_steps + case when p_outcome = 1 then c.steps else 0 end,
            failed_steps = p.failed_steps + case when p_outcome = 1 then 0 else c.steps end,
            updated_at = greatest(p.updated_at, ts), xid = pg_current_xact_id(),
            xid_steps = c.steps + case when p.xid = pg_current_xact_id() then p.xid_steps else 0 end
        from chosen c
        where c.is_run and not c.is_overdue and p.join_id = c.join_id and p.lane = c.lane and p.seq = c.seq)
    select coalesce(sum(c.steps) filter (where c.is_run and not c.is_overdue), 0),
           array_agg(c.join_id) filter (where c.is_overdue),
           array_agg(c.join_id) filter (where c.is_run and not c.is_overdue and c.steps = c.room),
           array_agg(c.join_id) filter (where not c.is_run and not c.is_overdue),
           array_agg(c.lane) filter (where not c.is_run and not c.is_overdue)
    into counted, overdue, full_ones, scattered, lanes from chosen c;

    if scattered is not null then
        counted := counted + :"schema"._count_one_by_one(items, p_outcome, ts, scattered, lanes);
    end if;
    if full_ones is not null then
        perform :"schema"._end_joins(full_ones, null, null, ts);
    end if;
    if overdue is not null then
        perform :"schema"._end_joins(overdue, 2::smallint, 1::smallint, ts);
    end if;
    return counted;
end $$;
