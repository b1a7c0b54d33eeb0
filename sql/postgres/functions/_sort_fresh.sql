-- Sorts messages of the window, up to the last one that goes straight to the claimer: wanted ones that are due and
-- of his topics. Those before it that do not are parked: not due yet, expired, or of another topic. Those in
-- frontier_skip are buried already. reached: how many were sorted; the rest stays in the window.
create or replace function :"schema"._sort_fresh(
    f :"schema".frontier, ids bigint[], wanted int, ts timestamptz, exact text[], prefixes text[],
    p_waits text, p_named boolean, out straight bigint[], out parked_expired boolean, out reached int)
language plpgsql volatile :hot as $$
begin
    with sorted as materialized (
        select m.work_id, m.topic, m.due_at, m.expires_at, i.n,
               coalesce(m.due_at <= ts, true) and coalesce(m.expires_at > ts, true)
                   and :"schema"._wanted(m.topic, exact, prefixes) and (p_named or m.topic is distinct from p_waits) as go
        from unnest(ids) with ordinality i(id, n) join :"schema".message m on m.work_id = i.id
        where not exists (select from :"schema".frontier_skip k where k.work_id = m.work_id)),
    counted as materialized (
        select s.*, count(*) filter (where s.go) over (order by s.n) as served from sorted s),
    met as materialized (
        select c.* from counted c where c.served < wanted or c.go and c.served = wanted),
    aside as (
        insert into :"schema".parked (work_id, box, available_at, expires_at, topic, crash_count)
        select m.work_id, f.box, greatest(m.due_at, ts), m.expires_at, m.topic,
               case when m.topic = p_waits then -1 else 0 end
        from met m where not m.go
        returning coalesce(expires_at <= ts, false) as expired)
    select coalesce(array_agg(m.work_id order by m.n) filter (where m.go), '{}'),
           coalesce((select bool_or(a.expired) from aside a), false),
           case when max(m.served) = wanted then max(m.n) else cardinality(ids) end
    into straight, parked_expired, reached from met m;
end $$;
