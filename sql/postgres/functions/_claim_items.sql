-- The claim from the turn on: suspects, parked messages and heads of streams, and fresh messages from the log. Says
-- which messages are leased now (items null: none), and how; flags and number as in _claim_numbered. The caller has called _before_claim
-- for every box that its transaction claims from.
create or replace function :"schema"._claim_items(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], suspects boolean,
    p_number bigint,
    out items int8multirange, out has_parked boolean, out epoch bigint, out until timestamptz, out flags int)
language plpgsql volatile as $$
declare
    -- Of payload; see _claim_within.
    bytes_max constant bigint := coalesce(nullif(current_setting('boxcar.claim_bytes', true), '')::bigint, 64 << 20);
    f :"schema".frontier;
    before :"schema".frontier;
    ts timestamptz;
    have_turn boolean;
    full_look boolean;
    streams_sorted boolean := false;
    side bigint[] := '{}';
    fresh bigint[] := '{}';
    share int := 0;   -- of what does not come straight from the log
    waits text := case p_box when 0 then :"schema"._wait_topic() end;   -- the topic of waits ...
    named boolean := coalesce(waits = any (exact), false);              -- ... which only those get who name it
    waits_from timestamptz;   -- a minute more than due_from, which does not know of waits
    aside record;
    got record;
begin
    if (lease between interval '100 milliseconds' and interval '24 hours' and wanted between 1 and 10000
        and p_owner <> '00000000-0000-0000-0000-000000000000') is not true then
        perform :"schema"._check_claim(p_owner, lease, wanted);
    end if;
    have_turn := :"schema"._turn(p_box);
    ts := clock_timestamp();
    flags := case when have_turn then 0 else 4 end;
    f := :"schema"._frontier(p_box, 0::smallint);
    before := f;
    epoch := greatest(f.epoch + 1, (extract(epoch from ts) * 1000000)::bigint);
    -- Without the turn the epoch cannot be written down: only the clock keeps it from being used again.
    if not have_turn and epoch = f.epoch + 1 then
        return;
    end if;
    full_look := ts >= f.look_at;
    if full_look then
        perform :"schema"._check_identity();
        f.due_from := '-infinity';
        f.expiring_from := '-infinity';
        f.lease_from := '-infinity';
    end if;
    if have_turn and full_look then
        perform :"schema"._wake_noted_streams(p_box, ts);
    end if;
    if have_turn then
        streams_sorted := :"schema"._sort_streams(p_box, ts);
    end if;

    waits_from := f.due_from - interval '1 minute';
    -- Most claims find nothing but fresh messages: one look tells what else there is. (An order leaves no choice of
    -- index, not even to a plan that was made while the table was empty.)
    select suspects and (coalesce((
               select true from :"schema".parked p
               where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count > 0
                 and p.available_at >= f.due_from and p.available_at <= ts
               order by p.box, p.available_at limit 1), false)
               or streams_sorted and :"schema"._has_due_stream(p_box, true, f.due_from, ts)) as suspects,
           coalesce((
               select true from :"schema".parked p
               where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                 and p.available_at >= f.due_from and p.available_at <= ts
               order by p.box, p.available_at limit 1), false)
               or streams_sorted and :"schema"._has_due_stream(p_box, false, f.due_from, ts)
               or named and coalesce((
                   select true from :"schema".parked p
                   where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count < 0
                     and p.topic = waits collate "C" and p.available_at >= waits_from and p.available_at <= ts
                   order by p.topic, p.available_at limit 1), false) as others
    into aside;

    if aside.suspects and f.suspects_next then
        side := :"schema"._claim_suspect(p_box, epoch, f.due_from, ts, exact, prefixes, streams_sorted,
                                         p_owner, waits, named);
        f.suspects_next := side = '{}';
    end if;
    if side = '{}' then
        -- Half and half, while there is both: fresh ones first, so that a run of a stream can fill what they leave.
        if aside.others then
            share := wanted / 2 + (wanted % 2) * (f.seq % 2)::int;
        end if;
        if have_turn and wanted > share then
            select * into got from :"schema"._claim_fresh(f, wanted - share, ts, exact, prefixes, waits, named);
            f := got.f;
            fresh := got.taken;
            flags := got.parked_expired::int + 2 * got.more::int;
        end if;
        if aside.others then
            side := :"schema"._claim_side(p_box, epoch, wanted - cardinality(fresh), before.seq % 4 < 2, streams_sorted,
                                          f.due_from, ts, exact, prefixes, p_owner, waits, named);
        end if;
        if have_turn and share > 0 and cardinality(fresh) >= wanted - share
           and cardinality(side) + cardinality(fresh) < wanted then
            select * into got from :"schema"._claim_fresh(f, wanted - cardinality(side) - cardinality(fresh), ts, exact,
                                                          prefixes, waits, named);
            f := got.f;
            fresh := fresh || got.taken;
            flags := flags | (got.parked_expired::int + 2 * got.more::int);
        end if;
        if aside.suspects and side = '{}' and fresh = '{}' then
            side := :"schema"._claim_suspect(p_box, epoch, f.due_from, ts, exact, prefixes, streams_sorted,
                                         p_owner, waits, named);
        elsif aside.suspects then
            f.suspects_next := true;
        end if;
    end if;

    if side <> '{}' or fresh <> '{}' then
        f.epoch := epoch;
        items := :"schema"._multirange(side || fresh);
        -- Most claims are one run of ids, and small: that is seen most cheaply here.
        if upper(items) - lower(items) > cardinality(side) + cardinality(fresh) or (
            select sum(octet_length(m.payload)) from :"schema".message m
            where m.work_id >= lower(items) and m.work_id < upper(items)) > bytes_max then
            items := :"schema"._bound_claim(p_box, items, bytes_max, ts);
        end if;
        has_parked := side <> '{}';
        until := ts + lease;
        insert into :"schema".lease (box, epoch, owner, until, items, has_parked, claim_number)
        values (p_box, epoch, p_owner, until, items, has_parked, p_number);
    end if;
    if have_turn and not streams_sorted then
        flags := flags | 2;
    end if;
    if have_turn then
        perform :"schema"._move_frontier(before, f, full_look, ts);
    end if;
end $$;
