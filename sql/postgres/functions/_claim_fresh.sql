-- Leases fresh messages: takes the next window rows and sorts them. What is due and wanted goes
-- straight to the claimer; the rest is parked: not due yet, expired, of another topic, or more than
-- the claimer asked for. Moves the position in f, which the caller writes. Only under the turn.
-- more: the step limit was reached before anything was found; parked_expired: _bury_expired has work.
create or replace function :"schema"._claim_fresh(
    inout f :"schema".frontier, wanted int, ts timestamptz, exact text[], prefixes text[],
    out taken bigint[], out parked_expired boolean, out more boolean)
language plpgsql volatile :hot as $$
declare
    everything boolean := exact is null and prefixes is null;
    chunk int;
    straight bigint[];
    met_expired boolean;
    total bigint := 0;
    seen int8multirange;
    rows_seen bigint;
    last_xid xid8;
    last_id bigint;
    advanced boolean := false;
    unmoved :"schema".frontier := f;
begin
    taken := '{}';
    parked_expired := false;
    more := false;
    loop
        -- Whoever has to sort through much that is not for him takes larger and larger steps.
        chunk := wanted - cardinality(taken);
        if total > 0 or not everything then
            chunk := greatest(chunk, 500, least(total, 10000));
        end if;
        with w as materialized (select * from :"schema"._window(f, chunk)),
        sorted as materialized (
            select w.work_id, w.topic, w.due_at, w.expires_at,
                   coalesce(w.expires_at <= ts, false) as expired,
                   coalesce(w.due_at <= ts, true) and coalesce(w.expires_at > ts, true)
                       and (everything or :"schema"._wanted(w.topic, exact, prefixes)) as go,
                   row_number() over (order by w.xid, w.work_id) as n
            from w where not f.skip @> w.work_id),
        served as materialized (
            select s.*, s.go and count(*) filter (where s.go) over (order by s.n)
                            <= wanted - cardinality(taken) as serve
            from sorted s),
        aside as (
            insert into :"schema".parked (work_id, box, available_at, expires_at, topic)
            select s.work_id, f.box, greatest(s.due_at, ts), s.expires_at, s.topic
            from served s where not s.serve
            returning coalesce(expires_at <= ts, false) as expired)
        select (select array_agg(s.work_id order by s.n) from served s where s.serve),
               (select bool_or(a.expired) from aside a),
               count(*), max(w.xid), (array_agg(w.work_id order by w.xid desc, w.work_id desc))[1],
               case when f.skip <> '{}' then range_agg(int8range(w.work_id, w.work_id + 1)) end
        into straight, met_expired, rows_seen, last_xid, last_id, seen
        from w;
        total := total + rows_seen;
        parked_expired := parked_expired or coalesce(met_expired, false);
        if rows_seen > 0 then
            f.position_xid := last_xid;
            f.position_id := last_id;
            if seen is not null then
                f.skip := f.skip - seen;
            end if;
            taken := taken || coalesce(straight, '{}');
        end if;
        exit when cardinality(taken) >= wanted;
        if rows_seen >= chunk then
            more := taken = '{}' and total >= 50000;
            exit when more;
            continue;
        end if;
        exit when advanced;
        f.base := f.target;
        f.target := :"schema"._snapshot();
        f.position_xid := '0';
        f.position_id := 0;
        advanced := true;
    end loop;
    if total = 0 then
        f := unmoved;   -- an empty window is looked through again, at no cost, instead of written
    end if;
end $$;
