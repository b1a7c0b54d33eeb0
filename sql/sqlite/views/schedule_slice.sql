-- The newest slice of each shard of the schedules, as people read them; slice 0: there was none.
drop view if exists boxcar_schedule_slice;
create view boxcar_schedule_slice as
select s.topic, s.work_key, x.shard, x.slice,
       case when x.message_id is not null then
           lower(substr(hex(x.message_id), 1, 8) || '-' || substr(hex(x.message_id), 9, 4) || '-' || substr(hex(x.message_id), 13, 4)
             || '-' || substr(hex(x.message_id), 17, 4) || '-' || substr(hex(x.message_id), 21, 12)) end as message_id,
       x.tries,
       strftime('%Y-%m-%dT%H:%M:%S', x.enqueued_at / 1000000, 'unixepoch')
           || printf('.%06dZ', x.enqueued_at % 1000000) as enqueued_at,
       strftime('%Y-%m-%dT%H:%M:%S', x.completed_at / 1000000, 'unixepoch')
           || printf('.%06dZ', x.completed_at % 1000000) as completed_at,
       strftime('%Y-%m-%dT%H:%M:%S', x.due_at / 1000000, 'unixepoch')
           || printf('.%06dZ', x.due_at % 1000000) as due_at
from boxcar_schedule_row s join boxcar_schedule_shard x on x.schedule_id = s.schedule_id;
