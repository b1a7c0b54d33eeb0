-- Sorts the streamed lane's new messages into parked, and makes sure each stream has its row.
-- Returns true when the window is sorted in whole. Only then may heads be handed out: within a
-- window the order of transaction ids says nothing about the order of enqueueing, so a window cut
-- in the middle would let a later message overtake an earlier one (BX-060). Only under the turn.
create or replace function :"schema"._sort_streams(p_box smallint, ts timestamptz) returns boolean
language plpgsql volatile :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    before :"schema".frontier := f;
    chunk constant int := 5000;
    partitions int;
    w record;
    advanced boolean := false;
    moved boolean := false;
begin
    -- Stores without streams, and those whose streams are quiet, get past here with one look into an empty index range.
    if f.whole and pg_snapshot_xmin(f.base) = pg_snapshot_xmax(f.base) and not exists (
        select from :"schema".message m where m.box = p_box and m.lane = 1 and m.era = f.era
          and m.xid >= pg_snapshot_xmax(f.base)) then
        return true;
    end if;
    partitions := :"schema"._setting('partition_count', 10000);
    loop
        select count(*) as n, (array_agg(x.xid))[count(*)] as last_xid, array_agg(x.work_id) as ids,
               array_agg(x.topic) as topics, array_agg(x.stream) as streams, array_agg(x.due_at) as dues,
               array_agg(x.expires_at) as expiries
        into w from :"schema"._window(f, chunk) x;
        if w.n > 0 then
            insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
            select i.id, p_box, greatest(i.due_at, ts), i.expires_at, i.topic, i.stream
            from unnest(w.ids, w.dues, w.expiries, w.topics, w.streams) i(id, due_at, expires_at, topic, stream);
            perform :"schema"._meet_streams(p_box, w.streams, w.topics, w.ids, partitions, ts);
            moved := true;
            f.position_xid := w.last_xid;
            f.position_id := w.ids[w.n];
        end if;
        exit when w.n >= chunk or advanced;
        f.base := f.target;
        f.target := :"schema"._snapshot();
        f.position_xid := '0';
        f.position_id := 0;
        advanced := true;
    end loop;
    -- Written as well when a window with messages is followed by an empty one: from then on the look at the beginning is
    -- enough.
    f.whole := w.n < chunk;
    if moved or before.position_xid > '0' or f.whole <> before.whole then
        f.seq := f.seq + 1;
        perform :"schema"._add_frontier(f);
    end if;
    return f.whole;
end $$;
