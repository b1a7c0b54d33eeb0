-- Leases fresh messages: takes the next window rows. If all of them are for the claimer now, they are
-- his as they stand; otherwise _sort_fresh parks what is not. Moves the position in f, which the
-- caller writes. Only under the turn.
-- p_waits: the topic of waits, which are only for those who name it (p_named).
-- more: the step limit was reached before anything was found; parked_expired: _bury_expired has work.
create or replace function :"schema"._claim_fresh(
    inout f :"schema".frontier, wanted int, ts timestamptz, exact text[], prefixes text[],
    p_waits text, p_named boolean, out taken bigint[], out parked_expired boolean, out more boolean)
language plpgsql volatile :hot as $$
declare
    unmoved :"schema".frontier := f;
    advanced boolean := false;
    total bigint := 0;
    chunk int;
    w record;
    sorted record;
    reached int;
begin
    taken := '{}';
    parked_expired := false;
    more := false;
    loop
        -- Whoever has to sort through much that is not for him takes larger and larger steps.
        chunk := wanted - cardinality(taken);
        if total > cardinality(taken) then
            chunk := greatest(chunk, least(4 * total, 10000));
        end if;
        select array_agg(x.work_id) as ids, count(*) as n, array_agg(x.xid) as xids,
               bool_and(x.due_at is null and x.expires_at is null
                        and :"schema"._wanted(x.topic, exact, prefixes)
                        and (p_named or x.topic is distinct from p_waits)) as plain
        into w from :"schema"._window(f, chunk) x;
        if w.n > 0 then
            if w.plain and f.skip = '{}' and w.n <= wanted - cardinality(taken) then
                taken := taken || w.ids;
                reached := w.n;
            else
                select * into sorted
                from :"schema"._sort_fresh(f, w.ids, wanted - cardinality(taken), ts, exact, prefixes,
                                          p_waits, p_named);
                taken := taken || sorted.straight;
                parked_expired := parked_expired or sorted.parked_expired;
                reached := sorted.reached;
            end if;
            if f.skip <> '{}' then
                perform :"schema"._pass_over(w.ids[:reached]);
            end if;
            f.position_xid := w.xids[reached];
            f.position_id := w.ids[reached];
            total := total + reached;
        end if;
        exit when cardinality(taken) >= wanted;
        if w.n >= chunk then
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
        f.skip := :"schema"._still_skips(f.skip);
    end loop;
    if total = 0 then
        f := unmoved;   -- an empty window is looked through again, at no cost, instead of written
    end if;
end $$;
