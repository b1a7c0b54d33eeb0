-- Joins with their counters.
create or replace view :"schema".outbox_join as
select j.join_id, j.grouping_key, j.expected_steps, p.completed_steps, p.failed_steps,
       case j.status when 0 then 'pending' when 1 then 'completed' when 2 then 'failed' else 'cancelled' end as status,
       case j.reason when 1 then 'timed_out' end as reason,
       j.created_at, greatest(p.updated_at, j.ended_at) as last_updated_at, j.deadline, j.metadata
from :"schema".join_row j cross join lateral (
    select p.completed_steps, p.failed_steps, p.updated_at from :"schema".join_progress p
    where p.join_id = j.join_id order by p.seq desc limit 1) p;
