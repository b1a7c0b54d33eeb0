-- Schedules, as people read them.
drop view if exists boxcar_schedule;
create view boxcar_schedule as
select s.topic, s.work_key, s.every_ms, s.jitter_ms, s.shards, s.then_topic, s.else_topic,
       strftime('%Y-%m-%dT%H:%M:%S', s.created_at / 1000000, 'unixepoch')
           || printf('.%06dZ', s.created_at % 1000000) as created_at,
       strftime('%Y-%m-%dT%H:%M:%S', s.paused_at / 1000000, 'unixepoch')
           || printf('.%06dZ', s.paused_at % 1000000) as paused_at,
       (select count(*) from boxcar_schedule_shard x where x.schedule_id = s.schedule_id and x.due_at is null) as open_slices,
       strftime('%Y-%m-%dT%H:%M:%S', d.due_at / 1000000, 'unixepoch')
           || printf('.%06dZ', d.due_at % 1000000) as next_due_at
from boxcar_schedule_row s
left join boxcar_schedule_shard d on d.schedule_id = s.schedule_id and d.shard = (
    select x.shard from boxcar_schedule_shard x
    where x.schedule_id = s.schedule_id and x.due_at is not null order by x.due_at limit 1);
