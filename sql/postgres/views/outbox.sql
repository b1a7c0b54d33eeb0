-- The outbox: one row per message with its status.
create or replace view :"schema".outbox as
select i.work_id, i.message_id, 'outbox'::text as box, i.topic, i.payload, i.status, i.status = 'done' as is_processed,
       i.created_at, i.due_at, i.available_at, i.expires_at, i.stream, i.correlation_id, i.headers,
       i.retry_count, i.crash_count, i.max_attempts, i.last_error,
       case when (select :"schema"._sees_owners()) then i.owner else :"schema"._veil(i.owner) end as owner,
       i.epoch, i.locked_until, i.processed_at,
       case when (select :"schema"._sees_owners()) then i.processed_by
            else :"schema"._veil(i.processed_by::uuid)::text end as processed_by,
       i.causation_id, i.event_type, i.metadata, i.stages
from :"schema"._item i where i.box = 0 and i.reader = 0;
