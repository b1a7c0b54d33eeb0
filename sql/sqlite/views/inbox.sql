-- The inbox: one row per message. state: the status in other words.
drop view if exists boxcar_inbox;
create view boxcar_inbox as
select work_id, message_id, box, topic, status, is_processed, created_at, due_at, available_at, expires_at,
       stream, correlation_id, headers, retry_count, last_error, owner, epoch, locked_until,
       processed_at, processed_by, payload,
       (select k.source from boxcar_inbox_key k where k.work_id = i.work_id) as source,
       (select k.external_id from boxcar_inbox_key k where k.work_id = i.work_id) as external_id,
       case status when 'ready' then 'seen' when 'in_progress' then 'processing' when 'done' then 'done'
           else 'dead' end as state,
       crash_count, max_attempts, causation_id, event_type, metadata, stages
from boxcar_item_text i
where box = 'inbox' and reader < 2;
