-- The rows that stream_state shows, with the columns that the index has. The head is a parked message, one that a lease
-- holds (taken), or the first in the log behind the stream's position.
create or replace view :"schema"._stream_state as
select s.box, s.key,
       case when s.halted_at is not null then 'halted' when l.epoch is not null then 'in_progress'
            when h.available_at <= clock_timestamp() then 'ready' else 'waiting' end as state,
       s.partition, h.work_id as head, h.topic::text as topic,
       case when s.halted_at is null and l.epoch is null then h.available_at end as available_at,
       coalesce(h.retry_count, 0) as retry_count,
       (select x.owner from :"schema".lease x where x.epoch = l.epoch and x.box = s.box limit 1) as owner,
       s.halted_at, s.halted_by
from :"schema".stream s
cross join lateral (
    select x.log_box, x.choosy, x.in_exact, x.in_prefixes, x.but_exact, x.but_prefixes, x.from_time, x.from_id from :"schema".frontier x
    where x.box = s.box and x.lane = 1 order by x.box desc, x.lane desc, x.seq desc limit 1) f
left join lateral (
    select x.epoch, m.work_id, m.topic
    from :"schema".lease x cross join lateral (
        select m.work_id, m.topic from :"schema".message m
        where m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key
          and m.work_id > s.taken_from and m.work_id <= s.position and x.items @> m.work_id
        order by m.stream, m.work_id limit 1) m
    where x.box = s.box and x.epoch = s.epoch order by m.work_id limit 1) taken on true
left join lateral (
    (select p.work_id, p.topic, p.available_at, p.retry_count from :"schema".parked p
     where p.box = s.box and p.stream >= s.key and p.stream <= s.key order by p.stream, p.work_id limit 1)
    union all
    select taken.work_id, taken.topic, null, 0 where taken.work_id is not null
    union all
    (select m.work_id, m.topic, greatest(m.due_at, m.created_at), 0 from :"schema".message m
     where m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key and m.work_id > s.position
       and (not f.choosy or (f.in_exact is null and f.in_prefixes is null or coalesce(m.topic = any (f.in_exact), false)
         or coalesce(m.topic ^@ any (f.in_prefixes), false))
        and not coalesce(m.topic = any (f.but_exact), false) and not coalesce(m.topic ^@ any (f.but_prefixes), false)
        and coalesce(m.created_at >= f.from_time, true) and coalesce(m.work_id >= f.from_id, true))
       and not exists (select from :"schema".reader_skip k where k.box = s.box and k.work_id = m.work_id)
     order by m.stream, m.work_id limit 1)
    order by 1 limit 1) h on true
left join lateral (
    select coalesce((select p.epoch from :"schema".parked p
                     where p.box = s.box and p.stream = s.key and p.epoch is not null limit 1), taken.epoch) as epoch) l on true
where h.work_id is not null or s.halted_at is not null;
