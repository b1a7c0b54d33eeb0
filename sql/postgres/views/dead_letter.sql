-- Dead letters of all readers with their reason. subscription: whose it is; null: the main reader of the box.
create or replace view :"schema".dead_letter as
select i.work_id, i.message_id, case i.box when 0 then 'outbox' else 'inbox' end as box, i.topic, i.payload,
       i.status, i.created_at, i.due_at, i.expires_at, i.stream, i.correlation_id, i.headers, i.retry_count,
       i.crash_count, i.max_attempts, i.last_error,
       (array['rejected', 'exhausted', 'expired', 'no_handler', 'cancelled'])[i.reason] as reason, i.died_at,
       i.source, i.external_id,
       i.causation_id, i.event_type, i.metadata, i.stages,
       case when i.reader > 1 then (select r.name::text from :"schema".reader r where r.number = i.reader) end as subscription
from :"schema"._item i where i.status = 'failed' and (i.reader < 2 or exists (
    select from :"schema".reader r where r.number = i.reader and r.removed_at is null));
