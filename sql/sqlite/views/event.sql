-- Events, as people read them.
drop view if exists boxcar_event;
create view boxcar_event as
select lower(substr(hex(event_id), 1, 8) || '-' || substr(hex(event_id), 9, 4) || '-' || substr(hex(event_id), 13, 4)
             || '-' || substr(hex(event_id), 17, 4) || '-' || substr(hex(event_id), 21, 12)) as event_id,
       stream,
       version,
       position,
       type,
       payload,
       headers,
       correlation_id,
       strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000000, 'unixepoch')
           || printf('.%06dZ', created_at % 1000000) as created_at,
       causation_id
from boxcar_event_row;
