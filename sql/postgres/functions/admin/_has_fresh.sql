-- Whether a message of these topics is in the pool, or is in the log beyond the frontier and can be claimed before
-- `latest`. Goes the way a claim would go, from the position on, without moving anything.
create or replace function :"schema"._has_fresh(
    p_box smallint, exact text[], prefixes text[], ts timestamptz, latest timestamptz)
returns boolean language plpgsql stable :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    advanced boolean := false;
    chunk int := 500;
    w record;
begin
    if exists (select from :"schema".pool p where p.box = p_box and :"schema"._wanted(p.topic, exact, prefixes)) then
        return true;
    end if;
    loop
        select array_agg(x.work_id) as ids, count(*) as n, (array_agg(x.xid))[count(*)] as last_xid,
               bool_or(x.reads and coalesce(x.due_at <= latest, true)
                       and coalesce(x.expires_at > greatest(x.due_at, ts), true)
                       and :"schema"._wanted(x.topic, exact, prefixes)) as found
        into w from :"schema"._window(f, chunk) x;
        if w.found then
            return true;
        end if;
        if w.n >= chunk then
            f.position_xid := w.last_xid;
            f.position_id := w.ids[w.n];
            chunk := least(2 * chunk, 10000);
            continue;
        end if;
        exit when advanced;
        f := :"schema"._next_window(f, pg_current_snapshot());
        advanced := true;
    end loop;
    return false;
end $$;
