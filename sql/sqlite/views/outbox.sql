-- The outbox: one row per message.
drop view if exists boxcar_outbox;
create view boxcar_outbox as
select work_id, message_id, box, topic, status, is_processed, created_at, due_at, available_at, expires_at,
       stream, correlation_id, headers, retry_count, last_error, owner, epoch, locked_until,
       processed_at, processed_by, payload, crash_count, max_attempts, causation_id, event_type, metadata, stages
from boxcar_item_text
where box = 'outbox' and reader < 2;
