-- One small step of upkeep of joins: deadlines, members whose message had ended before, retention. Joins that
-- somebody is counting in are left for the next time.
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
    locked uuid[];
    done record;
    swept record;
begin
    locked := array(
        select j.join_id from :"schema".join_row j where j.join_id = any (overdue || unsure)
        order by j.join_id for no key update skip locked);
    select coalesce(array_agg(l.join_id) filter (where l.lane is not null), '{}'),
           count(*) filter (where l.lane is not null and l.join_id = any (overdue) and exists (
               select from :"schema".join_row j where j.join_id = l.join_id and j.status = 0))
    into locked, timed_out
    from unnest(locked, :"schema"._lock_in_time(locked)) l(join_id, lane);
    select * into done from :"schema"._settle_joins(locked, ts);
    settled := done.counted;
    select * into swept from :"schema"._purge_joins(2000);
    purged := swept.purged;
    more := swept.more or timed_out >= most or done.looked_at >= most;
end $$;
