-- What subscriptions have to do with: one row for each message and subscription, as the outbox shows messages of its main
-- reader.
drop view if exists boxcar_delivery;
create view boxcar_delivery as
select r.name as subscription, i.work_id, i.message_id, i.box, i.topic, i.status, i.is_processed, i.created_at, i.due_at,
       i.available_at, i.expires_at, i.stream, i.correlation_id, i.headers, i.retry_count, i.last_error, i.owner, i.epoch,
       i.locked_until, i.processed_at, i.processed_by, i.payload, i.crash_count, i.max_attempts, i.causation_id,
       i.event_type, i.metadata, i.stages
from boxcar_reader r
cross join boxcar_item_text i on i.reader = r.number
where r.number > 1 and r.name is not null;
