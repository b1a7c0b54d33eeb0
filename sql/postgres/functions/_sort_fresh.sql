-- Sorts messages of the window: the first wanted ones that are due and of the claimer's topics go
-- straight to him; the rest is parked: not due yet, expired, of another topic, or more than he asked
-- for. Those in f.skip are buried already.
create or replace function :"schema"._sort_fresh(
    f :"schema".frontier, ids bigint[], wanted int, ts timestamptz, exact text[], prefixes text[],
    out straight bigint[], out parked_expired boolean)
language plpgsql volatile :hot as $$
begin
    with sorted as materialized (
        select m.work_id, m.topic, m.due_at, m.expires_at, i.n,
               coalesce(m.due_at <= ts, true) and coalesce(m.expires_at > ts, true)
                   and :"schema"._wanted(m.topic, exact, prefixes) as go
        from unnest(ids) with ordinality i(id, n) join :"schema".message m on m.work_id = i.id
        where not f.skip @> m.work_id),
    served as materialized (
        select s.*, s.go and count(*) filter (where s.go) over (order by s.n) <= wanted as serve from sorted s),
    aside as (
        insert into :"schema".parked (work_id, box, available_at, expires_at, topic)
        select s.work_id, f.box, greatest(s.due_at, ts), s.expires_at, s.topic
        from served s where not s.serve
        returning coalesce(expires_at <= ts, false) as expired)
    select coalesce(array_agg(s.work_id order by s.n) filter (where s.serve), '{}'),
           coalesce((select bool_or(a.expired) from aside a), false)
    into straight, parked_expired from served s;
end $$;
