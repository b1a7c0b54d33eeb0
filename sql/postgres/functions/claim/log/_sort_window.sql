-- Sorts the next messages of the window, at most step, up to the last one that the caller has seen there (last_xid,
-- last_id). Some that the caller saw may have left the log since: cancelled, expired, or claimed inside a transaction.
-- Then step messages reach further than the caller comes, and the next claimer would sort those again.
--
-- The claimer gets the first `wanted` that are ready and of its topics. Others that are ready go into the pool, topic
-- by topic. Messages that are not due, have an expiry, or wait for a join are parked. If a transaction holds one of
-- these, to cancel it, the message is left to that transaction (_sidestep).
create or replace function :"schema"._sort_window(
    f :"schema".frontier, step int, last_xid xid8, last_id bigint, wanted int, ts timestamptz, exact text[], prefixes text[],
    p_waits text, p_named boolean, out taken bigint[], out parked_expired boolean)
language plpgsql volatile as $$
declare
    touched bigint[];   -- of those to be parked
begin
    with met as materialized (
        select w.work_id, w.topic, w.due_at, w.expires_at, w.n, coalesce(w.due_at <= ts, true) as is_due,
               coalesce(w.due_at <= ts, true) and coalesce(w.expires_at > ts, true)
                   and :"schema"._wanted(w.topic, exact, prefixes)
                   and (p_named or w.topic is distinct from p_waits) as go
        from :"schema"._window(f, step) with ordinality w(xid, work_id, topic, stream, due_at, expires_at, reads, n)
        where (w.xid, w.work_id) <= (last_xid, last_id) and w.reads),
    sorted as materialized (
        select m.*, m.go and count(*) filter (where m.go) over (order by m.n) <= wanted as is_own,
               m.is_due and m.expires_at is null and m.topic is distinct from p_waits as is_plain
        from met m),
    aside as (
        insert into :"schema".parked (work_id, box, available_at, expires_at, topic, crash_count)
        select s.work_id, f.box, greatest(s.due_at, ts), s.expires_at, s.topic, case when s.topic = p_waits then -1 else 0 end
        from sorted s cross join lateral (
            select from :"schema".message m where m.work_id = s.work_id and m.xmax = 0 and m.lane = 0 limit 1) m
        where not s.is_own and not s.is_plain
        returning work_id, coalesce(expires_at <= ts, false) as expired),
    pooled as (
        insert into :"schema".pool (box, topic, size, items)
        select f.box, p.topic, count(*), range_agg(int8range(p.work_id, p.work_id + 1))
        from (select s.topic, s.work_id, s.n, (row_number() over (partition by s.topic order by s.n) - 1) / 100 as part
              from sorted s where not s.is_own and s.is_plain) p
        group by p.topic, p.part order by min(p.n))
    select coalesce(array_agg(s.work_id order by s.n) filter (where s.is_own), '{}'),
           coalesce((select bool_or(a.expired) from aside a), false),
           coalesce(array_agg(s.work_id) filter (
               where not s.is_own and not s.is_plain and s.work_id not in (select a.work_id from aside a)), '{}')
    into taken, parked_expired, touched from sorted s;
    if touched <> '{}' then
        parked_expired := :"schema"._park_fresh(f.box, array(
            select :"schema"._ids(:"schema"._sidestep(f.box, :"schema"._multirange(touched)))), ts) or parked_expired;
    end if;
end $$;
