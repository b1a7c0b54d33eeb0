-- The workers that are running, as people read them: a row for each box that one serves.
drop view if exists boxcar_instance;
create view boxcar_instance as
select lower(substr(hex(instance_id), 1, 8) || '-' || substr(hex(instance_id), 9, 4) || '-' || substr(hex(instance_id), 13, 4)
             || '-' || substr(hex(instance_id), 17, 4) || '-' || substr(hex(instance_id), 21, 12)) as instance_id,
       case box when 0 then 'outbox' else 'inbox' end as box,
       host,
       pid,
       concurrency,
       topics,
       strftime('%Y-%m-%dT%H:%M:%S', started_at / 1000000, 'unixepoch')
           || printf('.%06dZ', started_at % 1000000) as started_at,
       strftime('%Y-%m-%dT%H:%M:%S', seen_at / 1000000, 'unixepoch')
           || printf('.%06dZ', seen_at % 1000000) as seen_at
from boxcar_instance_row;
