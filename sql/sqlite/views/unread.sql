-- What subscriptions have not met yet: beyond the frontier of the reader, one of its topics, and not known to it (a message
-- may be cancelled before it is met). Waits for joins are the main reader's.
drop view if exists boxcar_unread;
create view boxcar_unread as
select r.number as reader, m.work_id, m.message_id, m.box, m.topic, m.stream, m.correlation_id, m.headers, m.created_at,
       m.due_at, m.expires_at, m.max_attempts, m.payload, m.causation_id, m.event_type, m.metadata
from boxcar_reader r
cross join boxcar_frontier f on f.box = r.number
cross join boxcar_message m on m.work_id > f.position and +m.box = r.box
where r.number > 1 and r.name is not null
  and exists (select 1 from json_each(case when json_valid(r.patterns) then r.patterns else '[]' end) t
              where t.value = m.topic or substr(t.value, -1) = '*'
                and substr(m.topic, 1, length(t.value) - 1) = substr(t.value, 1, length(t.value) - 1))
  and (m.box = 1
       or m.topic <> coalesce((select text from boxcar_setting where name = 'join_wait_topic'), 'join.wait'))
  and not exists (select 1 from boxcar_reader_dead d where d.box = r.number and d.work_id = m.work_id)
  and not exists (select 1 from boxcar_reader_skip k where k.box = r.number and k.work_id = m.work_id)
  and not exists (select 1 from boxcar_reader_parked p where p.box = r.number and p.work_id = m.work_id)
  and not exists (select 1 from boxcar_reader_lease l where l.box = r.number and l.work_id = m.work_id)
  and not exists (select 1 from boxcar_reader_finished d where d.box = r.number and d.first_id =
      (select max(e.first_id) from boxcar_reader_finished e where e.box = r.number and e.first_id <= m.work_id)
      and d.last_id >= m.work_id);
