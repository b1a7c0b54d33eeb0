-- Every message as people read it: names, ids as UUIDs, times as RFC 3339 in UTC.
drop view if exists boxcar_item_text;
create view boxcar_item_text as
select work_id,
       case when message_id is not null then
           lower(substr(hex(message_id), 1, 8) || '-' || substr(hex(message_id), 9, 4) || '-' || substr(hex(message_id), 13, 4)
                 || '-' || substr(hex(message_id), 17, 4) || '-' || substr(hex(message_id), 21, 12)) end as message_id,
       case box when 0 then 'outbox' else 'inbox' end as box,
       topic,
       status,
       status = 'done' as is_processed,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch')
           || printf('.%06dZ', created_at % 1000000) as created_at,
       strftime('%Y-%m-%dT%H:%M:%S', due_at / 1000000, 'unixepoch')
           || printf('.%06dZ', due_at % 1000000) as due_at,
       strftime('%Y-%m-%dT%H:%M:%S', available_at / 1000000, 'unixepoch')
           || printf('.%06dZ', available_at % 1000000) as available_at,
       strftime('%Y-%m-%dT%H:%M:%S', expires_at / 1000000, 'unixepoch')
           || printf('.%06dZ', expires_at % 1000000) as expires_at,
       stream,
       correlation_id,
       headers,
       retry_count,
       last_error,
       case when owner is not null then
           lower(substr(hex(owner), 1, 8) || '-' || substr(hex(owner), 9, 4) || '-' || substr(hex(owner), 13, 4)
                 || '-' || substr(hex(owner), 17, 4) || '-' || substr(hex(owner), 21, 12)) end as owner,
       epoch,
       strftime('%Y-%m-%dT%H:%M:%S', locked_until / 1000000, 'unixepoch')
           || printf('.%06dZ', locked_until % 1000000) as locked_until,
       strftime('%Y-%m-%dT%H:%M:%S', processed_at / 1000000, 'unixepoch')
           || printf('.%06dZ', processed_at % 1000000) as processed_at,
       case when processed_by is not null then
           lower(substr(hex(processed_by), 1, 8) || '-' || substr(hex(processed_by), 9, 4) || '-' || substr(hex(processed_by), 13, 4)
                 || '-' || substr(hex(processed_by), 17, 4) || '-' || substr(hex(processed_by), 21, 12)) end as processed_by,
       case reason when 1 then 'rejected' when 2 then 'exhausted' when 3 then 'expired'
           when 4 then 'no_handler' when 5 then 'cancelled' end as reason,
       strftime('%Y-%m-%dT%H:%M:%S', died_at / 1000000, 'unixepoch')
           || printf('.%06dZ', died_at % 1000000) as died_at,
       payload,
       crash_count,
       max_attempts,
       causation_id,
       event_type,
       metadata,
       stages,
       reader
from boxcar_item;
