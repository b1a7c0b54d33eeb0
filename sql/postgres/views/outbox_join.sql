-- Joins with their counters.
create or replace view :"schema".outbox_join as
select j.join_id, j.grouping_key, j.expected_steps, c.completed_steps, c.failed_steps,
       case j.status when 0 then 'pending' when 1 then 'completed' when 2 then 'failed' else 'cancelled' end as status,
       case j.reason when 1 then 'timed_out' end as reason,
       j.created_at, greatest(c.updated_at, j.ended_at) as last_updated_at, j.deadline, j.metadata
from :"schema".join_row j cross join lateral (
    select sum(p.completed_steps)::int as completed_steps, sum(p.failed_steps)::int as failed_steps,
           max(p.updated_at) as updated_at
    from generate_series(0, j.last_lane) l(lane) cross join lateral (
        select p.completed_steps, p.failed_steps, p.updated_at from :"schema".join_progress p
        where p.join_id = j.join_id and p.lane = l.lane order by p.seq desc limit 1) p) c;
