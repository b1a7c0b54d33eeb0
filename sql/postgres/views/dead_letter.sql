-- Dead letters of both boxes with their reason.
create or replace view :"schema".dead_letter as
select i.work_id, i.message_id, case i.box when 0 then 'outbox' else 'inbox' end as box, i.topic, i.payload,
       i.status, i.created_at, i.due_at, i.expires_at, i.stream, i.correlation_id, i.headers, i.retry_count,
       i.crash_count, i.max_attempts, i.last_error,
       (array['rejected', 'exhausted', 'expired', 'no_handler', 'cancelled'])[i.reason] as reason, i.died_at,
       i.source, i.external_id,
       i.causation_id, i.event_type, i.metadata, i.stages
from :"schema"._item i where i.status = 'failed';
