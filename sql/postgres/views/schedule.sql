-- Schedules.
create or replace view :"schema".schedule as
select s.topic, s.work_key, make_interval(secs => s.every_ms / 1000.0) as every, make_interval(secs => s.jitter_ms / 1000.0) as jitter,
       s.shards, s.then_topic, s.else_topic, s.created_at, s.paused_at, x.open_slices, x.next_due_at
from :"schema".schedule_row s cross join lateral (
    select count(*) filter (where y.due_at is null) as open_slices, min(y.due_at) as next_due_at
    from :"schema".schedule_shard y where y.id = s.id) x;
