-- Ends joins, which the caller has locked, evaluates their waits, and makes the remaining waits due. p_status null: as
-- the counters say (JOIN-041). A transaction that holds the row of a wait claims the wait, releases it at once, or
-- buries it. Such a wait need not be told, so this passes it over.
create or replace function :"schema"._end_joins(
    p_joins uuid[], p_status smallint, p_reason smallint, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    woken_boxes bigint;
begin
    update :"schema".join_row j
    set status = coalesce(p_status, (
            select case when max(p.failed_steps) > 0 then 2 else 1 end
            from generate_series(0, j.last_lane) l(lane) cross join lateral (
                select p.failed_steps from :"schema".join_progress p
                where p.join_id = j.join_id and p.lane = l.lane order by p.seq desc limit 1) p)),
        reason = p_reason, ended_at = ts, ended_xid = pg_current_xact_id()
    where j.join_id = any (p_joins);

    perform :"schema"._follow_joins(p_joins, ts);
    with due as (
        select p.work_id from :"schema".parked p
        where p.work_id = any (array(select w.work_id from :"schema".join_wait w where w.join_id = any (p_joins)))
          and p.box < 2 and p.epoch is null and p.available_at > ts
        order by p.work_id for update skip locked),
    woken as (
        update :"schema".parked p set available_at = clock_timestamp() from due d where p.work_id = d.work_id and p.box < 2
        returning p.box, p.topic)
    select count(:"schema"._wake(w.box)) into woken_boxes from (select distinct w.box, w.topic from woken w) w
    where exists (select from :"schema".sleeper s where s.until > ts and s.box = w.box
                    and :"schema"._wanted(w.topic, s.exact, s.prefixes));
end $$;
