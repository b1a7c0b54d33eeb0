-- Comes past the streamed lane's new messages: makes sure that each stream has its row, and parks messages that come
-- late, behind messages of their stream that were handed out already. All others stay in the log, where claims find
-- them. most: how many, if none of them may be late. Messages that may be late come first, up to 5,000.
-- Returns true when the window was met in whole. Before that, heads may be handed out only if all messages that may be
-- late have been met (_is_open): otherwise a later message might overtake an earlier one (BX-060). Only under the turn.
--
-- The fence tells which messages may be late. A transaction gets its number before it draws a work id
-- (_enqueue_messages and others). So if its number is from after `base` was taken, its work ids are larger than all
-- that were handed out then. A snapshot does not tell how far numbers had come: those at or after its xmax may have
-- been given out already.
create or replace function :"schema"._come_past_streams(p_box smallint, ts timestamptz, most int) returns boolean
language plpgsql volatile :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    before :"schema".frontier := f;
    chunk int;
    w record;
    kept record;       -- of the window: what the reader wants
    news record;       -- of that: what is handed on
    met bigint := 0;   -- how many
    advanced boolean := false;
    moved boolean := false;
    is_old boolean := false;   -- many transactions that ran in base have ended since
begin
    -- Claims look up each transaction that was running in base (_has_new_streamed). So base moves on if many of them have ended, even
    -- if no message came, but at most once a second.
    if ts >= f.look_at then
        is_old := (select count(*) >= 8 from pg_snapshot_xip(f.base) x where pg_visible_in_snapshot(x, pg_current_snapshot()));
    end if;
    -- Stores without streams, and those whose streams are quiet, get past here with one look into an empty index range.
    if f.whole and not is_old and not :"schema"._has_new_streamed(f) then
        return true;
    end if;
    loop
        chunk := case when f.base_fence is null then 5000 else most end;
        select count(*) as n, count(*) filter (where x.xid < f.base_fence) as late, (array_agg(x.xid))[count(*)] as last_xid,
               array_agg(x.work_id) as ids, array_agg(x.topic) as topics, array_agg(x.stream) as streams,
               array_agg(x.reads) filter (where f.choosy) as reads
        into w from :"schema"._window(f, chunk) x;
        if w.n > 0 then
            moved := true;
            f.position_xid := w.last_xid;
            f.position_id := w.ids[w.n];
            if f.choosy then   -- the others are passed over
                select array_agg(x.id order by x.n) as ids, array_agg(x.topic order by x.n) as topics,
                       array_agg(x.stream order by x.n) as streams, count(*) filter (where x.n <= w.late) as late, count(*) as n
                into kept
                from unnest(w.ids, w.topics, w.streams, w.reads) with ordinality x(id, topic, stream, reads, n) where x.reads;
            else
                kept := w;
            end if;
            -- If none may be late, most of them change nothing that is known of their stream: it has its row and is looked
            -- at anyway, or they were taken before they were met. So only the others are handed on.
            if kept.late > 0 or f.base_fence is null then
                select kept.streams, kept.topics, kept.ids into news;
            elsif w.n >= chunk and kept.n > 0 and kept.streams[1] = kept.streams[kept.n]
                  and kept.streams = array_fill(kept.streams[1], array[kept.n::int]) then   -- one stream: the first and the last tell all
                select array[kept.streams[1], kept.streams[kept.n]] as streams, array[kept.topics[1], kept.topics[kept.n]] as topics,
                       array[min(i), max(i)] as ids
                into news from unnest(kept.ids) i;
            else
                select array_agg(x.stream) as streams, array_agg(x.topic) as topics, array_agg(x.id) as ids into news
                from unnest(kept.streams, kept.topics, kept.ids) x(stream, topic, id) left join lateral (
                    select s.position, s.available_at from :"schema".stream s where s.box = f.box and s.key = x.stream limit 1) s on true
                where s.position is null or s.available_at > ts and x.id > s.position;
            end if;
            if news.ids is not null then
                perform :"schema"._register_streams(f, news.streams, news.topics, news.ids,
                                                    case when f.base_fence is null then kept.n else kept.late end, w.n < chunk, ts);
            end if;
        end if;
        if w.n >= chunk then
            met := met + w.n;
            continue when w.last_xid < f.base_fence and met < 5000;   -- what may be late first
            exit;
        end if;
        exit when advanced;
        f.base := f.target;
        f.base_low := f.target_low;
        f.base_top := f.target_top;
        f.base_fence := f.target_fence;
        f.target_low := coalesce(pg_sequence_last_value(':"schema".message_work_id_seq'), 0);
        f.target := :"schema"._snapshot();
        f.target_top := coalesce(pg_sequence_last_value(':"schema".message_work_id_seq'), 0);
        f.position_xid := '0';
        f.position_id := 0;
        advanced := true;
    end loop;
    -- Also written when an empty window follows one with messages: from then on the look at the beginning is enough.
    f.whole := w.n < chunk;
    if moved or before.position_xid > '0' or f.whole <> before.whole or is_old then
        if advanced then
            f.target_fence := :"schema"._fence(p_box);
        end if;
        f.seq := f.seq + 1;
        f.look_at := ts + interval '1 second';
        perform :"schema"._add_frontier(f);
    end if;
    return f.whole;
end $$;
