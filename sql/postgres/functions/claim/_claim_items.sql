-- The claim itself: suspects, parked messages, heads of streams, and messages from the pool and the log. items: the
-- messages that are leased now (null: none). flags and number as in _claim_numbered. The caller has called
-- _before_claim for every box that its transaction claims from.
--
-- Most claims need no turn: they take from the pool. A claimer that finds the pool empty takes the turn and fills it
-- (_claim_fresh). Heads of streams are handed out under the turn, and once a second a claimer takes it for a full look.
-- alone: the transaction ends with this claim. Any other claim takes no turn, since it might keep it for long
-- (_claim_inside, _heads_inside). The end of its transaction sorts what the claim could not sort (_at_end). It takes
-- the turn for streams only if it seems to be the only statement of its transaction (_is_single), or if no claimer
-- sorts.
create or replace function :"schema"._claim_items(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], suspects boolean,
    p_number bigint, alone boolean, max_bytes bigint,
    out items int8multirange, out has_parked boolean, out epoch bigint, out until timestamptz, out flags int)
language plpgsql volatile as $$
declare
    f :"schema".frontier;
    ts timestamptz;
    claims bigint;   -- how many there were in this box: decides what comes first
    drawn record;    -- the epoch of what does not come straight from the log
    has_turn boolean := false;
    full_look boolean;
    moved boolean := false;
    with_streams boolean := false;
    is_whole boolean;   -- all new messages of streams were met
    side bigint[] := '{}'::bigint[];
    fresh int8multirange := '{}'::int8multirange;
    total int := 0;   -- of fresh
    share int := 0;   -- of what does not come straight from the log
    room int;
    has_suspects boolean;
    has_others boolean;   -- parked messages, heads of streams, and waits if the claimer names their topic
    waits constant text := case p_box when 0 then :"schema"._wait_topic() end;   -- the topic of waits ...
    named constant boolean := coalesce(waits = any (exact), false);              -- ... which only a claimer that names it gets
    p_except constant text := case when not named then waits end;
    excess bigint[];
    got record;
begin
    if (lease between interval ':lease_ms_min milliseconds' and interval ':lease_hours_max hours' and wanted between 1 and :batch_size_max
        and p_owner <> '00000000-0000-0000-0000-000000000000') is not true then
        perform :"schema"._check_claim(p_owner, lease, wanted);
    end if;
    flags := 0;
    f := :"schema"._frontier(p_box, 0::smallint);
    ts := clock_timestamp();   -- after that: see _epoch
    -- In a store without streams, or whose streams are quiet, this costs a look into empty index ranges.
    if not (:"schema"._has_new_streamed(:"schema"._frontier(p_box, 1::smallint))
            or :"schema"._has_due_stream(p_box, false, f.due_from, ts)
            or :"schema"._has_due_stream(p_box, true, f.due_from, ts)) then
        if ts >= f.look_at and alone then
            has_turn := :"schema"._turn(p_box, false);
        end if;
    elsif alone or :"schema"._is_single()
       or :"schema"._is_unsorted(p_box, ts - interval '10 seconds') and not :"schema"._has_due_stream(p_box, false, f.due_from, ts) then
        has_turn := :"schema"._turn(p_box, true);
        with_streams := has_turn;
        flags := case when has_turn then 0 else 4 end;
    else
        with_streams := true;
        perform :"schema"._note_end(p_box, true, '{}');
    end if;
    if has_turn then
        f := :"schema"._frontier(p_box, 0::smallint);
        ts := clock_timestamp();
    end if;
    full_look := ts >= f.look_at;
    if full_look then
        perform :"schema"._check_identity();
        f.due_from := '-infinity';
        f.expiring_from := '-infinity';
        f.lease_from := '-infinity';
        f.pool_from := 0;
    end if;
    if has_turn and full_look then
        perform :"schema"._wake_noted_streams(p_box, ts);
        if not with_streams then
            perform :"schema"._come_past_streams(p_box, ts, 1000);   -- else base would keep transactions that have ended
        end if;
    end if;
    if with_streams and has_turn then
        -- A small claim of any topic needs few streams. It comes past more only if it has found none.
        is_whole := :"schema"._come_past_streams(
            p_box, ts, case when exact is null and prefixes is null then least(greatest(4 * wanted, 200), 1000) else 1000 end);
        if not is_whole and not :"schema"._has_due_stream(p_box, false, f.due_from, ts) then
            is_whole := :"schema"._come_past_streams(p_box, ts, 1000);
        end if;
        if not is_whole then
            flags := 2;
            with_streams := :"schema"._is_open(:"schema"._frontier(p_box, 1::smallint));
        end if;
    end if;
    claims := nextval(case p_box when 0 then ':"schema".outbox_claims'::regclass when 1 then ':"schema".inbox_claims'::regclass
                          else :"schema"._own('claims', p_box) end);

    -- What is there outside of the pool and the log? Most claims find nothing. (An order leaves no choice of index, not
    -- even to a plan that was made while the table was empty.)
    select suspects and (coalesce((
               select true from :"schema".parked p
               where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count > 0
                 and p.available_at >= f.due_from and p.available_at <= ts
               order by p.box, p.available_at limit 1), false)
               or with_streams and :"schema"._has_due_stream(p_box, true, f.due_from, ts)),
           coalesce((
               select true from :"schema".parked p
               where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                 and p.available_at >= f.due_from and p.available_at <= ts
               order by p.box, p.available_at limit 1), false)
               or with_streams and :"schema"._has_due_stream(p_box, false, f.due_from, ts)
               or named and coalesce((   -- a minute more than due_from, which does not know of waits
                   select true from :"schema".parked p
                   where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count < 0
                     and p.topic = waits collate "C" and p.available_at >= f.due_from - interval '1 minute'
                     and p.available_at <= ts
                   order by p.topic, p.available_at limit 1), false)
    into has_suspects, has_others;
    if has_suspects or has_others then
        drawn := :"schema"._draw_epoch(f.epoch);
    end if;
    if has_suspects and claims % 2 = 0 then
        side := :"schema"._claim_suspect(p_box, drawn.epoch, f.due_from, ts, exact, prefixes, with_streams, p_owner,
                                         p_except, has_turn);
    end if;
    if side = '{}' then
        -- Half and half while there are both. Fresh ones come first, so that a run of a stream can fill the room that
        -- they leave, and a second time if the others leave room.
        if has_others then
            share := wanted / 2 + (wanted % 2) * ((claims + 1) % 2)::int;
        end if;
        room := wanted - share;
        for i in 1 .. 2 loop
            if room > 0 then
                select * into got from :"schema"._claim_fresh(f, has_turn, alone, room, ts, exact, prefixes, waits, named);
                f := got.f;
                ts := got.ts;
                has_turn := got.has_turn;
                moved := moved or got.moved;
                fresh := fresh + got.items;
                total := total + got.total;
                flags := flags | got.flags;
            end if;
            exit when i = 2 or not has_others;
            drawn := :"schema"._draw_epoch(f.epoch);
            side := :"schema"._claim_side(p_box, drawn.epoch, wanted - total, claims % 4 < 2, with_streams, f.due_from, ts,
                                          exact, prefixes, p_owner, case when named then waits end, p_except, has_turn);
            exit when total < wanted - share;
            room := wanted - cardinality(side) - total;
        end loop;
        if has_suspects and side = '{}' and total = 0 then
            side := :"schema"._claim_suspect(p_box, drawn.epoch, f.due_from, ts, exact, prefixes, with_streams, p_owner,
                                             p_except, has_turn);
        end if;
    end if;

    -- The claim met expired messages of streams.
    if with_streams and current_setting('boxcar.met_expired', true) = 'yes' then
        flags := flags | 1;
    end if;
    has_parked := side <> '{}';
    if has_parked or total > 0 then
        items := case when has_parked then fresh + :"schema"._multirange(side) else fresh end;
        -- Most claims are one small run of ids: this finds that out most cheaply.
        if upper(items) - lower(items) > cardinality(side) + total or (
            select sum(:"schema"._message_bytes(m.payload, m.headers, m.metadata)) from :"schema".message m
            where m.work_id >= lower(items) and m.work_id < upper(items)) > max_bytes then
            excess := :"schema"._beyond_bytes(items, max_bytes);
            items := items - :"schema"._multirange(excess);
        end if;
        -- Now all is locked. A message that a claimer had and gave back in the meantime must not get a lower epoch than
        -- it had.
        if not has_parked then
            epoch := (:"schema"._draw_epoch(f.epoch)).epoch;
        elsif pg_sequence_last_value(':"schema".epoch_count') = drawn.counted then
            epoch := drawn.epoch;
        else
            epoch := (:"schema"._draw_epoch(f.epoch)).epoch;
            -- So the parked messages and streams that were stamped get the other one.
            update :"schema".parked p set epoch = _claim_items.epoch
            where p.work_id = any (side) and p.box = p_box and p.epoch = drawn.epoch;
            update :"schema".stream s set epoch = _claim_items.epoch
            where s.ctid = any (:"schema"._stream_rows(p_box, array(
                      select distinct m.stream from :"schema".message m where m.work_id = any (side) and m.stream is not null)))
              and s.epoch = drawn.epoch;
        end if;
        until := ts + lease;
        insert into :"schema".lease (box, epoch, owner, until, items, has_parked, claim_number)
        values (p_box, epoch, p_owner, until, items, has_parked, p_number);
        if excess is not null then   -- after the insert: a stream waits for its leased messages
            perform :"schema"._release(p_box, excess, null, null, null, array_fill(0::bigint, array[cardinality(excess)]), null, ts);
        end if;
        flags := flags & ~2;
    end if;
    if has_turn then
        perform :"schema"._move_frontier(f, moved, full_look, items is not null, ts);
    end if;
end $$;
