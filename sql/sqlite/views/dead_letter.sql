-- The dead letters of both boxes. subscription: whose they are; null: the main reader's.
drop view if exists boxcar_dead_letter;
create view boxcar_dead_letter as
select work_id, message_id, box, topic, reason, died_at, status, created_at, due_at, expires_at,
       stream, correlation_id, headers, retry_count, last_error, payload,
       (select k.source from boxcar_inbox_key k where k.work_id = i.work_id) as source,
       (select k.external_id from boxcar_inbox_key k where k.work_id = i.work_id) as external_id,
       crash_count, max_attempts, causation_id, event_type, metadata, stages,
       (select r.name from boxcar_reader r where r.number = i.reader and i.reader > 1) as subscription
from boxcar_item_text i
where status = 'failed'
  and (reader < 2 or exists (select 1 from boxcar_reader r where r.number = i.reader and r.name is not null));
