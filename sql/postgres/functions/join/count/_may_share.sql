-- May this transaction, which has a lane of a large join, count so many steps in it? Only as long as
-- neither it nor those in the other lanes, whose steps it cannot see, can reach the join's end or go beyond it:
-- each of them counts at most 2,000 steps. Who has a lane was allowed for when he took it and may stay: asking for
-- the whole join now he would wait for others who do the same.
create or replace function :"schema"._may_share(p_join uuid, p_steps bigint) returns boolean
language plpgsql volatile as $$
begin
    return exists (
        select from (select * from :"schema".join_row j where j.join_id = p_join limit 1) j
        cross join lateral (
            select sum(p.completed_steps + p.failed_steps) as steps,
                   coalesce(sum(p.xid_steps) filter (where p.xid = pg_current_xact_id_if_assigned()), 0) as ours
            from generate_series(0, j.last_lane) l(lane) cross join lateral (
                select p.completed_steps, p.failed_steps, p.xid, p.xid_steps from :"schema".join_progress p
                where p.join_id = j.join_id and p.lane = l.lane order by p.seq desc limit 1) p) c
        where j.last_lane > 0 and j.status = 0 and coalesce(j.deadline > clock_timestamp(), true)
          and c.ours + p_steps <= 2000
          and (j.expected_steps - c.steps > j.last_lane * 2000 or :"schema"._has_lane(p_join))
          and current_setting('transaction_isolation') = 'read committed');
end $$;
