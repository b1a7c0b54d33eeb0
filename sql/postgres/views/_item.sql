-- Every message with its derived status, under one snapshot. A branch per status, so that a filter on status or on an
-- id prunes: failed = in dead, in_progress = held by a lease, ready = parked or fresh, done = in finished. stages:
-- stored (1) by itself, event_stored (2) of an event, published (4) of a message that is done in the outbox, and what
-- was recorded. reader: whose delivery it is: the main reader of the box, or a subscription.
create or replace view :"schema"._item as
select m.work_id, m.message_id, m.box, m.topic, m.payload, 'failed'::text as status, m.created_at, m.due_at,
       null::timestamptz as available_at, m.expires_at, m.stream, m.correlation_id, m.headers, d.retry_count,
       d.crash_count, m.max_attempts, d.last_error, null::uuid as owner, null::bigint as epoch,
       null::timestamptz as locked_until, null::timestamptz as processed_at, null::text as processed_by,
       d.reason, d.died_at, m.source, m.external_id, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end | coalesce((
           select g.flags::int from :"schema".stage g where g.work_id = m.work_id), 0) as stages, d.box as reader
from :"schema".dead d join :"schema".message m on m.work_id = d.work_id
union all
select m.work_id, m.message_id, m.box, m.topic, m.payload, 'in_progress', m.created_at, m.due_at,
       null, case when p.work_id is null then m.expires_at else p.expires_at end, m.stream,
       m.correlation_id, m.headers, coalesce(p.retry_count, 0), greatest(p.crash_count, 0), m.max_attempts,
       p.last_error, l.owner, l.epoch, l.until, null, null, null, null, m.source, m.external_id, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end | coalesce((
           select g.flags::int from :"schema".stage g where g.work_id = m.work_id), 0), l.box
from :"schema".lease l
cross join lateral :"schema"._ids(l.items) i(work_id)
join :"schema".message m on m.work_id = i.work_id
left join :"schema".parked p on p.work_id = m.work_id and p.box = l.box
union all
select m.work_id, m.message_id, m.box, m.topic, m.payload, 'ready', m.created_at, m.due_at,
       p.available_at, p.expires_at, m.stream, m.correlation_id, m.headers, p.retry_count, greatest(p.crash_count, 0),
       m.max_attempts, p.last_error, null, null, null, null, null, null, null, m.source, m.external_id, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end | coalesce((
           select g.flags::int from :"schema".stage g where g.work_id = m.work_id), 0), p.box
from :"schema".parked p join :"schema".message m on m.work_id = p.work_id
where p.epoch is null
union all
select m.work_id, m.message_id, m.box, m.topic, m.payload, 'ready', m.created_at, m.due_at,
       greatest(m.due_at, m.created_at), m.expires_at, m.stream, m.correlation_id, m.headers, 0, 0,
       m.max_attempts, null, null, null, null, null, null, null, null, m.source, m.external_id, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end | coalesce((
           select g.flags::int from :"schema".stage g where g.work_id = m.work_id), 0), m.reader
from :"schema"._fresh m
union all
select m.work_id, m.message_id, m.box, m.topic, m.payload, 'done', m.created_at, m.due_at,
       null, m.expires_at, m.stream, m.correlation_id, m.headers, :"schema"._spent(r.number, m.work_id, false),
       :"schema"._spent(r.number, m.work_id, true),
       m.max_attempts,
       (select a.error from :"schema".attempt a where a.work_id = m.work_id and a.reader = case when r.number > 1 then r.number else 0 end
          and a.error is not null
        order by a.at desc limit 1),
       null, null, null, f.at, f.owner::text, null, null, m.source, m.external_id, m.causation_id, m.event_type, m.metadata,
       case when m.event_type is null then 1 else 3 end | case r.number when 0 then 4 else 0 end | coalesce((
           select g.flags::int from :"schema".stage g where g.work_id = m.work_id), 0), r.number
from :"schema".message m join :"schema".reader r on r.box = m.box cross join lateral (
    select * from :"schema".finished f where f.box = r.number and f.first_id <= m.work_id order by f.first_id desc limit 1) f
where f.last_id >= m.work_id and f.at > '-infinity';
