-- Every key that the inbox has heard of, and what became of it. work_id and message_id are null when there is no
-- message.
drop view if exists boxcar_inbox_receipt;
create view boxcar_inbox_receipt as
select k.source, k.external_id, k.work_id,
       case when k.state = 0 then 'seen' when k.state = 2 or f.first_id is not null then 'done'
            when k.state = 3 or d.work_id is not null then 'dead'
            when l.work_id is not null then 'processing' else 'seen' end as state,
       k.content_hash,
       strftime('%Y-%m-%dT%H:%M:%S', k.first_seen_at / 1000000, 'unixepoch')
           || printf('.%06dZ', k.first_seen_at % 1000000) as first_seen_at,
       strftime('%Y-%m-%dT%H:%M:%S', k.last_seen_at / 1000000, 'unixepoch')
           || printf('.%06dZ', k.last_seen_at % 1000000) as last_seen_at,
       k.seen_count,
       strftime('%Y-%m-%dT%H:%M:%S', coalesce(k.ended_at, f.at, d.died_at) / 1000000, 'unixepoch')
           || printf('.%06dZ', coalesce(k.ended_at, f.at, d.died_at) % 1000000) as ended_at,
       (select lower(substr(hex(m.message_id), 1, 8) || '-' || substr(hex(m.message_id), 9, 4) || '-'
                     || substr(hex(m.message_id), 13, 4) || '-' || substr(hex(m.message_id), 17, 4) || '-'
                     || substr(hex(m.message_id), 21, 12))
        from boxcar_message m where m.work_id = k.work_id) as message_id
from boxcar_inbox_key k
left join boxcar_lease l on l.work_id = k.work_id
left join boxcar_dead d on d.work_id = k.work_id
left join boxcar_finished f on f.first_id =
    (select max(r.first_id) from boxcar_finished r where r.first_id <= k.work_id) and f.last_id >= k.work_id;
