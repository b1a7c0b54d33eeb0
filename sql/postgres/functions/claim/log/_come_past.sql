-- Moves the frontier over the next messages of the plain lane. The claimer gets the first ones that it wants. All
-- others that are ready go into the pool, and messages that are not ready are parked. Those that the reader does not
-- want are passed over. Moves the position in f, which the caller writes. Only under the turn.
-- p_waits: the topic of waits, which only a claimer that names it gets (p_named). room: if the caller takes nothing,
-- the size of the claims for which the pool is filled.
-- more: the step limit was reached before anything was found; parked_expired: _bury_expired has work.
create or replace function :"schema"._come_past(
    inout f :"schema".frontier, wanted int, ts timestamptz, exact text[], prefixes text[],
    p_waits text, p_named boolean, room int, out taken bigint[], out parked_expired boolean, out more boolean, out moved boolean)
language plpgsql volatile as $$
declare
    -- Far enough for several claims of this size, so that most need no turn.
    step constant int := greatest(wanted, least(8 * wanted, 8000), least(100 * room, 8000), 1000);
    unmoved constant :"schema".frontier := f;
    advanced boolean := false;
    total bigint := 0;
    w record;
    sorted record;
    own int;
    most int;   -- messages in a row of the pool
begin
    taken := '{}';
    parked_expired := false;
    more := false;
    loop
        select array_agg(x.work_id) as ids, count(*)::int as n, (array_agg(x.xid))[count(*)] as last_xid,
               bool_and(x.reads and x.due_at is null and x.expires_at is null and (p_named or x.topic is distinct from p_waits))
                   and min(x.topic collate "C") = max(x.topic collate "C") as is_plain,
               min(x.topic collate "C") as topic
        into w from :"schema"._window(f, step) x;
        if w.n > 0 then
            if w.is_plain and :"schema"._wanted(w.topic, exact, prefixes) then
                own := least(w.n, wanted - cardinality(taken));
                taken := taken || w.ids[:own];
                if own < w.n then
                    -- Ids with gaps make long rows, so such a row gets fewer ids.
                    most := least(greatest(wanted, room, 30),
                                  case when w.ids[w.n] - w.ids[own + 1] = w.n - own - 1 then 1000 else 100 end);
                    insert into :"schema".pool (box, topic, size, items)
                    select f.box, w.topic, least(most, w.n - i + 1), :"schema"._multirange(w.ids[i:i + most - 1])
                    from generate_series(own + 1, w.n, most) i;
                end if;
            else
                select * into sorted from :"schema"._sort_window(f, step, w.last_xid, w.ids[w.n], wanted - cardinality(taken), ts,
                                                            exact, prefixes, p_waits, p_named);
                taken := taken || sorted.taken;
                parked_expired := parked_expired or sorted.parked_expired;
            end if;
            f.position_xid := w.last_xid;
            f.position_id := w.ids[w.n];
            total := total + w.n;
        end if;
        exit when total > 0 and cardinality(taken) >= wanted;
        if w.n >= step then
            more := taken = '{}' and total >= 50000;
            exit when more;
            continue;
        end if;
        exit when advanced;
        f := :"schema"._next_window(f, :"schema"._snapshot());
        advanced := true;
    end loop;
    moved := total > 0;
    if not moved then
        f := unmoved;   -- an empty window is not written: the next claimer looks through it again, at no cost
    end if;
end $$;
