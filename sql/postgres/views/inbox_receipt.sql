-- Every key that the inbox has heard of, and what became of it. This includes keys that were only seen or accepted, and
-- keys whose message is gone; work_id is null for them.
create or replace view :"schema".inbox_receipt as
select k.source, k.external_id, k.message_id, m.work_id,
       case when k.state = 0 then 'seen' when k.state = 2 or m.done_at is not null then 'done'
            when k.state = 3 or m.died_at is not null then 'dead' when m.leased then 'processing' else 'seen' end as state,
       k.content_hash, k.first_seen_at, k.last_seen_at, k.seen_count,
       coalesce(k.ended_at, m.done_at, m.died_at) as ended_at
from :"schema".inbox_key k left join lateral (
    select m.work_id, d.died_at, f.at as done_at,
           exists (select from :"schema".lease l where l.box = 1 and l.items @> m.work_id) as leased
    from :"schema".message m
    left join :"schema".dead d on d.work_id = m.work_id and d.box = 1
    left join lateral (
        select f.last_id, f.at from :"schema".finished f where f.box = 1 and f.first_id <= m.work_id
        order by f.first_id desc limit 1) f on f.last_id >= m.work_id
    where k.state = 1 and m.message_id = k.message_id) m on true;
