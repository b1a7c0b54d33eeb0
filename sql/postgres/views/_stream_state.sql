-- What stream_state shows, by the columns of the index.
create or replace view :"schema"._stream_state as
select s.box, s.key,
       case when s.halted_at is not null then 'halted' when x.epoch is not null then 'in_progress'
            when h.available_at <= clock_timestamp() then 'ready' else 'waiting' end as state,
       s.partition, h.work_id as head, h.topic::text as topic,
       case when s.halted_at is null and x.epoch is null then h.available_at end as available_at,
       coalesce(h.retry_count, 0) as retry_count,
       (select l.owner from :"schema".lease l where l.epoch = x.epoch and l.box = s.box limit 1) as owner,
       s.halted_at, s.halted_by
from :"schema".stream s left join lateral (
    select p.work_id, p.topic, p.available_at, p.epoch, p.retry_count from :"schema".parked p
    where p.box = s.box and p.stream >= s.key and p.stream <= s.key order by p.stream, p.work_id limit 1) h on true
left join lateral (
    select p.epoch from :"schema".parked p
    where p.box = s.box and p.stream = s.key and p.epoch is not null limit 1) x on true
where h.work_id is not null or s.halted_at is not null;
