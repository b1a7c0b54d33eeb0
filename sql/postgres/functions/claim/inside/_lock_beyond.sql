-- Locks messages beyond the frontier, for a claim inside a transaction of the caller. Goes the way a claim would go,
-- from the position on, without moving anything. met: how many messages it came past. It leaves messages that are due
-- later, expire or wait for a join to the claimers that sort.
create or replace function :"schema"._lock_beyond(
    f :"schema".frontier, wanted int, exact text[], prefixes text[], p_waits text,
    out locked bigint[], out met bigint)
language plpgsql volatile as $$
declare
    step int := greatest(wanted, 100);
    advanced boolean := false;
    w record;
begin
    locked := '{}';
    met := 0;
    loop
        select array_agg(x.work_id) as ids, count(*)::int as n, (array_agg(x.xid))[count(*)] as last_xid,
               array_agg(x.work_id) filter (
                   where x.reads and x.due_at is null and x.expires_at is null
                     and :"schema"._wanted(x.topic, exact, prefixes)
                     and x.topic is distinct from p_waits) as wanted
        into w from :"schema"._window(f, step) x;
        if w.wanted is not null then
            locked := locked || array(
                select m.work_id from unnest(w.wanted) i join :"schema".message m on m.work_id = i
                where m.lane = 0 limit wanted - cardinality(locked) for update of m skip locked);
        end if;
        exit when cardinality(locked) >= wanted;
        if w.n > 0 then
            f.position_xid := w.last_xid;
            f.position_id := w.ids[w.n];
            met := met + w.n;
        end if;
        if w.n >= step then
            exit when met >= 50000;
            step := least(2 * step, 5000);
            continue;
        end if;
        exit when advanced;
        f := :"schema"._next_window(f, :"schema"._snapshot());
        advanced := true;
    end loop;
end $$;
