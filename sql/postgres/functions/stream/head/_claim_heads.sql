-- Leases the heads of streams whose time has come, and as many neighbours behind each as the claimer has room for.
-- Under the turn (without it: _heads_inside), and only while heads may be handed out (_is_open). The row in stream says
-- when to look; this looks up the true head, in the log and among the parked messages.
create or replace function :"schema"._claim_heads(
    p_box smallint, p_epoch bigint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz,
    exact text[], prefixes text[], p_owner uuid, p_except text, has_turn boolean)
returns bigint[] language plpgsql volatile :hot as $$
declare
    due record;
    plain record;
    room int;
    streams int;
    met int := 0;   -- how many streams
    taken bigint[] := '{}'::bigint[];
begin
    if not has_turn then
        return :"schema"._heads_inside(p_box, p_epoch, wanted, p_suspect, due_from, ts, exact, prefixes, p_owner, p_except);
    end if;
    -- A stream that turns out to have nothing for the claimer does not count: this looks for others instead. At first
    -- it takes at most sixteen streams, so that the claimer can work on several at a time, and more only with runs of
    -- sixteen messages, so that not each costs a stream's row. Then it takes as many as will do if they are like those
    -- that it met.
    for i in 1 .. 20 loop
        room := wanted - cardinality(taken);
        streams := case when i = 1 then greatest(least(room, 16), room / 16)
                        when taken = '{}' then room
                        else least(room, room * met / cardinality(taken) + 1) end;
        -- A few more, since other transactions may have locked some of them.
        due := :"schema"._lock_ready(
            p_box, :"schema"._ready_streams(p_box, streams + 10, p_suspect, due_from, ts, exact, prefixes, p_owner, p_except),
            streams, p_suspect, ts);
        exit when due.keys is null;
        if p_suspect then
            return (:"schema"._claim_odd_heads(p_box, p_epoch, due.keys[:1], null, 1, true, true, ts, exact, prefixes,
                                               p_except)).ids;
        end if;
        plain := :"schema"._take_runs(p_box, due.keys, due.places, due.positions, room, p_epoch, exact, prefixes, p_except);
        taken := taken || plain.ids;
        met := met + cardinality(due.keys) - cardinality(plain.rest);
        if plain.rest <> '{}' and cardinality(taken) < wanted then
            taken := taken || :"schema"._claim_mixed_heads(p_box, p_epoch, plain.rest, wanted - cardinality(taken), ts,
                                                           exact, prefixes, p_except);
        end if;
        exit when cardinality(taken) >= wanted or i > 1 and cardinality(due.keys) < streams;
    end loop;
    return taken;
end $$;
