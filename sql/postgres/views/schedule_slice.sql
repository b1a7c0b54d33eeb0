-- The newest slice of each shard of the schedules; slice 0: there was none.
create or replace view :"schema".schedule_slice as
select s.topic, s.work_key, x.shard, x.slice, x.message_id, x.tries, x.enqueued_at, x.completed_at, x.due_at
from :"schema".schedule_row s join :"schema".schedule_shard x on x.id = s.id;
