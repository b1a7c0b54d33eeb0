-- Every message with its status, in raw form. One branch per status, so that a filter on the status leaves the others
-- unread. stages: stored (1) by itself, event_stored (2) of an event, published (4) of a message that is done in the
-- outbox, and what was recorded. reader: whose delivery it is, a main reader's (the number of its box) or a subscription's.
drop view if exists boxcar_item;
create view boxcar_item as
select m.work_id, m.message_id, m.box, m.topic, 'ready' as status, m.created_at, m.due_at,
       m.created_at as available_at, m.expires_at, m.stream, m.correlation_id, m.headers,
       0 as retry_count, null as last_error, null as owner, null as epoch, null as locked_until,
       null as processed_at, null as processed_by, null as reason, null as died_at, m.payload,
       0 as crash_count, m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0) as stages,
       m.box as reader
from boxcar_frontier r
cross join boxcar_message m on m.work_id > r.position and +m.box = r.box and +m.lane <> 1
where not exists (select 1 from boxcar_reader o
                  join json_each(case when json_valid(o.patterns) then o.patterns else '[]' end) t
                  where o.box = m.box and o."only" = 1 and o.name is not null
                    and (t.value = m.topic or substr(t.value, -1) = '*'
                         and substr(m.topic, 1, length(t.value) - 1) = substr(t.value, 1, length(t.value) - 1)))
union all
select m.work_id, m.message_id, m.box, m.topic, 'ready', m.created_at, m.due_at,
       p.available_at, p.expires_at, m.stream, m.correlation_id, m.headers,
       p.retry_count, p.last_error, null, null, null, null, null, null, null, m.payload,
       p.crash_count, m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), m.box
from boxcar_parked p
cross join boxcar_message m on m.work_id = p.work_id
where p.state < 3
union all
select m.work_id, m.message_id, m.box, m.topic, 'in_progress', m.created_at, m.due_at,
       null, m.expires_at, m.stream, m.correlation_id, m.headers,
       coalesce(p.retry_count, 0), p.last_error, l.owner, l.epoch, l.until, null, null, null, null, m.payload,
       coalesce(p.crash_count, 0), m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), m.box
from boxcar_lease l
cross join boxcar_message m on m.work_id = l.work_id
left join boxcar_parked p on p.work_id = l.work_id
union all
select m.work_id, m.message_id, m.box, m.topic, 'done', m.created_at, m.due_at,
       null, m.expires_at, m.stream, m.correlation_id, m.headers,
       coalesce((select a.retry_count from boxcar_attempt a where a.work_id = m.work_id
                 order by a.attempt_id desc limit 1), 0),
       (select a.error from boxcar_attempt a where a.work_id = m.work_id and a.outcome <> 'replayed'
        order by a.attempt_id desc limit 1),
       null, null, null, f.at, f.owner, null, null, m.payload,
       (select count(*) from boxcar_attempt a where a.work_id = m.work_id and a.outcome = 'lease_expired'
          and a.attempt_id > coalesce((select max(r.attempt_id) from boxcar_attempt r
                                       where r.work_id = m.work_id and r.outcome = 'replayed'), 0)), m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end | case m.box when 0 then 4 else 0 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), m.box
from boxcar_finished f
cross join boxcar_message m on m.work_id between f.first_id and f.last_id
union all
select m.work_id, m.message_id, m.box, m.topic, 'failed', m.created_at, m.due_at,
       null, m.expires_at, m.stream, m.correlation_id, m.headers,
       d.retry_count, d.last_error, null, null, null, null, null, d.reason, d.died_at, m.payload,
       d.crash_count, m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), m.box
from boxcar_dead d
cross join boxcar_message m on m.work_id = d.work_id
union all
select m.work_id, m.message_id, m.box, m.topic, 'ready', m.created_at, m.due_at,
       m.created_at, m.expires_at, m.stream, m.correlation_id, m.headers,
       0, null, null, null, null, null, null, null, null, m.payload,
       0, m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), m.reader
from boxcar_unread m
union all
select m.work_id, m.message_id, m.box, m.topic, 'ready', m.created_at, m.due_at,
       p.available_at, p.expires_at, m.stream, m.correlation_id, m.headers,
       p.retry_count, p.last_error, null, null, null, null, null, null, null, m.payload,
       p.crash_count, m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), p.box
from boxcar_reader_parked p
cross join boxcar_message m on m.work_id = p.work_id
where p.state < 3
union all
select m.work_id, m.message_id, m.box, m.topic, 'in_progress', m.created_at, m.due_at,
       null, m.expires_at, m.stream, m.correlation_id, m.headers,
       coalesce(p.retry_count, 0), p.last_error, l.owner, l.epoch, l.until, null, null, null, null, m.payload,
       coalesce(p.crash_count, 0), m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), l.box
from boxcar_reader_lease l
cross join boxcar_message m on m.work_id = l.work_id
left join boxcar_reader_parked p on p.box = l.box and p.work_id = l.work_id
union all
select m.work_id, m.message_id, m.box, m.topic, 'done', m.created_at, m.due_at,
       null, m.expires_at, m.stream, m.correlation_id, m.headers,
       coalesce((select a.retry_count from boxcar_reader_attempt a where a.box = f.box and a.work_id = m.work_id
                 order by a.attempt_id desc limit 1), 0),
       (select a.error from boxcar_reader_attempt a where a.box = f.box and a.work_id = m.work_id
          and a.outcome <> 'replayed' order by a.attempt_id desc limit 1),
       null, null, null, f.at, f.owner, null, null, m.payload,
       (select count(*) from boxcar_reader_attempt a where a.box = f.box and a.work_id = m.work_id
          and a.outcome = 'lease_expired'
          and a.attempt_id > coalesce((select max(r.attempt_id) from boxcar_reader_attempt r where r.box = f.box
                                       and r.work_id = m.work_id and r.outcome = 'replayed'), 0)),
       m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), f.box
from boxcar_reader_finished f
cross join boxcar_message m on m.work_id between f.first_id and f.last_id
union all
select m.work_id, m.message_id, m.box, m.topic, 'failed', m.created_at, m.due_at,
       null, m.expires_at, m.stream, m.correlation_id, m.headers,
       d.retry_count, d.last_error, null, null, null, null, null, d.reason, d.died_at, m.payload,
       d.crash_count, m.max_attempts, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end
           | coalesce((select s.flags from boxcar_stage s where s.work_id = m.work_id), 0), d.box
from boxcar_reader_dead d
cross join boxcar_message m on m.work_id = d.work_id;
