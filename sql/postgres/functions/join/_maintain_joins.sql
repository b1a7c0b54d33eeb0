-- One small step of upkeep of joins: deadlines, steps that were left for later, members whose message had ended before,
-- retention. Joins in which another transaction counts are left for the next time.
create or replace function :"schema"._maintain_joins(
    out settled bigint, out timed_out bigint, out purged bigint, out more boolean)
language plpgsql volatile :hot set enable_sort = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    most constant int := 500;
    overdue uuid[] := array(
        select j.join_id from :"schema".join_row j where j.status = 0 and j.deadline <= ts
        order by j.deadline limit most);
    unsure uuid[] := array(
        select distinct c.join_id from (
            select m.join_id from :"schema".join_member m where m.check_at <= ts order by m.check_at limit most) c);
    late uuid[] := array(   -- join by join: one that is held for long may have many rows
        with recursive late as (
            (select l.join_id, 1 as n from :"schema".late_step l order by l.join_id limit 1)
            union all
            select x.join_id, l.n + 1 from late l cross join lateral (
                select x.join_id from :"schema".late_step x where x.join_id > l.join_id order by x.join_id limit 1) x
            where l.n < most)
        select l.join_id from late l);
    locked uuid[];
    done record;
    old uuid[];   -- ended longer ago than their retention, and no message waits for them (a dead wait does not wait)
    cutoff timestamptz;
    removed int := 0;
begin
    locked := array(
        select j.join_id from :"schema".join_row j where j.join_id = any (overdue || unsure || late)
        order by j.join_id for no key update skip locked);
    select coalesce(array_agg(l.join_id) filter (where l.lane is not null), '{}'),
           count(*) filter (where l.lane is not null and l.join_id = any (overdue) and exists (
               select from :"schema".join_row j where j.join_id = l.join_id and j.status = 0))
    into locked, timed_out
    from unnest(locked, :"schema"._lock_in_time(locked)) l(join_id, lane);
    select * into done from :"schema"._settle_joins(locked, ts);
    delete from :"schema".late_step l   -- of joins that were purged
    where l.join_id = any (late) and not exists (select from :"schema".join_row j where j.join_id = l.join_id);
    settled := done.counted;
    cutoff := clock_timestamp() - make_interval(secs => :"schema"._setting('retention_joins', 30 * 86400000.0) / 1000);
    old := array(
        select j.join_id from :"schema".join_row j
        where j.ended_at <= cutoff and not exists (
            select from :"schema".join_wait w cross join lateral (
                select from :"schema".message m where m.work_id = w.work_id limit 1) m
            where w.join_id = j.join_id and not exists (
                select from :"schema".dead d where d.work_id = w.work_id and d.box = 0))
        order by j.ended_at limit 100 for update skip locked);
    purged := 0;
    if old <> '{}' then   -- otherwise the tables are not even locked
        delete from :"schema".join_member m   -- members first
        where m.ctid = any (array(select x.ctid from :"schema".join_member x where x.join_id = any (old) limit 2000));
        get diagnostics removed = row_count;
        with empty as materialized (
            select o as join_id from unnest(old) o
            where not exists (select from :"schema".join_member m where m.join_id = o)),
        spans as (delete from :"schema".join_span s using empty e where s.join_id = e.join_id),
        outcomes as (delete from :"schema".join_outcome o using empty e where o.join_id = e.join_id),
        counters as (delete from :"schema".join_progress p using empty e where p.join_id = e.join_id),
        waits as (delete from :"schema".join_wait w using empty e where w.join_id = e.join_id),
        gone as (delete from :"schema".join_row j using empty e where j.join_id = e.join_id returning j.join_id)
        select count(*) into purged from gone;
    end if;
    more := removed >= 2000 or cardinality(old) >= 100 or timed_out >= most or done.looked_at >= most;
end $$;
