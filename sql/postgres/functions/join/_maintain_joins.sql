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
    swept record;
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
    select * into swept from :"schema"._purge_joins(2000);
    purged := swept.purged;
    more := swept.more or timed_out >= most or done.looked_at >= most;
end $$;
