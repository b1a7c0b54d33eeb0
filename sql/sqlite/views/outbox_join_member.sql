-- The members of joins, as people read them.
drop view if exists boxcar_outbox_join_member;
create view boxcar_outbox_join_member as
select lower(substr(hex(join_id), 1, 8) || '-' || substr(hex(join_id), 9, 4) || '-' || substr(hex(join_id), 13, 4)
             || '-' || substr(hex(join_id), 17, 4) || '-' || substr(hex(join_id), 21, 12)) as join_id,
       lower(substr(hex(message_id), 1, 8) || '-' || substr(hex(message_id), 9, 4) || '-' || substr(hex(message_id), 13, 4)
             || '-' || substr(hex(message_id), 17, 4) || '-' || substr(hex(message_id), 21, 12)) as message_id,
       work_id,
       case status when 0 then 'pending' when 1 then 'completed' else 'failed' end as status,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch')
           || printf('.%06dZ', created_at % 1000000) as created_at
from boxcar_member;
