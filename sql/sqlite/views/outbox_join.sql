-- Joins, as people read them.
drop view if exists boxcar_outbox_join;
create view boxcar_outbox_join as
select lower(substr(hex(join_id), 1, 8) || '-' || substr(hex(join_id), 9, 4) || '-' || substr(hex(join_id), 13, 4)
             || '-' || substr(hex(join_id), 17, 4) || '-' || substr(hex(join_id), 21, 12)) as join_id,
       grouping_key,
       expected_steps,
       completed_steps,
       failed_steps,
       case status when 0 then 'pending' when 1 then 'completed' when 2 then 'failed' else 'cancelled' end as status,
       case reason when 1 then 'timed_out' end as reason,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch')
           || printf('.%06dZ', created_at % 1000000) as created_at,
       strftime('%Y-%m-%dT%H:%M:%S', last_updated_at / 1000000, 'unixepoch')
           || printf('.%06dZ', last_updated_at % 1000000) as last_updated_at,
       strftime('%Y-%m-%dT%H:%M:%S', deadline / 1000000, 'unixepoch')
           || printf('.%06dZ', deadline % 1000000) as deadline,
       metadata
from boxcar_join;
