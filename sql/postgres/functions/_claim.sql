-- The claim. In parts: expired leases and expired messages are dealt with before the turn, since
-- that may wait for locks, a little; under the turn come suspects, parked messages and heads of streams, and
-- fresh ones from the log.
--
-- flags in the trailing row with work_id 0 (absent when there is nothing to say): 1 = expired
-- messages were parked, call _bury_expired; 2 = nothing found yet but the log goes on, call again.
--
-- suspects false: none of those is handed out. The claimer is trying one already, and if that one kills
-- it, no other should be charged.
-- durable false: the commit need not reach the disk (the library's claims: a claim lost in a crash
-- is as good as one never made, since epochs follow the clock and are not given out twice).
create or replace function :"schema"._claim(
    p_box smallint, p_owner uuid, lease interval, wanted int, exact text[], prefixes text[], durable boolean,
    suspects boolean default true)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    before :"schema".frontier;
    ts timestamptz := clock_timestamp();
    have_turn boolean;
    full_look boolean;
    streams_sorted boolean := false;
    epoch bigint;
    side bigint[] := '{}';
    fresh bigint[] := '{}';
    items int8multirange;
    flags int := 0;
    share int := 0;   -- of what does not come straight from the log
    aside record;
    got record;
    note :"schema".claimed_message;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004',
            message = 'claim works under READ COMMITTED only, not ' || current_setting('transaction_isolation'),
            hint = 'Begin the transaction with BEGIN ISOLATION LEVEL READ COMMITTED.';
    end if;
    if not durable then
        perform set_config('synchronous_commit', 'off', true);
    end if;
    if ts >= f.look_at then
        f.lease_from := '-infinity';
        f.expiring_from := '-infinity';
    end if;
    if exists (select from :"schema".lease l
               where l.box = p_box and l.until >= f.lease_from and l.until <= ts) then
        perform :"schema"._try_expire_leases(p_box, f.lease_from, 20);
    end if;
    if exists (select from :"schema".parked p where p.box = p_box and p.epoch is null
                 and p.expires_at >= f.expiring_from and p.expires_at <= ts) then
        perform :"schema"._try_bury_expired(p_box, 1000);
    end if;

    have_turn := :"schema"._turn(p_box);
    ts := clock_timestamp();
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
               or streams_sorted and :"schema"._has_due_stream(p_box, false, f.due_from, ts) as others
    into aside;

    if aside.suspects and f.suspects_next then
        side := :"schema"._claim_suspect(p_box, epoch, f.due_from, ts, exact, prefixes, streams_sorted,
                                              p_owner);
        f.suspects_next := side = '{}';
    end if;
    if side = '{}' then
        -- Half and half, while there is both: fresh ones first, so that a run of a stream can fill what they leave.
        if aside.others then
            share := wanted / 2 + (wanted % 2) * (f.seq % 2)::int;
        end if;
        if have_turn and wanted > share then
            select * into got from :"schema"._claim_fresh(f, wanted - share, ts, exact, prefixes);
            f := got.f;
            fresh := got.taken;
            flags := got.parked_expired::int + 2 * got.more::int;
        end if;
        if aside.others then
            side := :"schema"._claim_side(p_box, epoch, wanted - cardinality(fresh), before.seq % 4 < 2, streams_sorted,
                                          f.due_from, ts, exact, prefixes, p_owner);
        end if;
        if have_turn and share > 0 and cardinality(fresh) >= wanted - share
           and cardinality(side) + cardinality(fresh) < wanted then
            select * into got from :"schema"._claim_fresh(f, wanted - cardinality(side) - cardinality(fresh), ts, exact,
                                                          prefixes);
            f := got.f;
            fresh := fresh || got.taken;
            flags := flags | (got.parked_expired::int + 2 * got.more::int);
        end if;
        if aside.suspects and side = '{}' and fresh = '{}' then
            side := :"schema"._claim_suspect(p_box, epoch, f.due_from, ts, exact, prefixes, streams_sorted,
                                              p_owner);
        elsif aside.suspects then
            f.suspects_next := true;
        end if;
    end if;

    if side <> '{}' or fresh <> '{}' then
        f.epoch := epoch;
        items := :"schema"._multirange(side || fresh);
        insert into :"schema".lease (box, epoch, owner, until, items, has_parked)
        values (p_box, epoch, p_owner, ts + lease, items, side <> '{}');
    end if;
    if have_turn and not streams_sorted then
        flags := flags | 2;
    end if;
    if have_turn then
        perform :"schema"._move_frontier(before, f, full_look, ts);
    end if;

    if items is not null then
        return query select * from :"schema"._claimed_rows(p_box, items, side <> '{}', epoch, p_owner, ts + lease);
    end if;
    if flags > 0 then
        note.work_id := 0;
        note.epoch := flags;
        return next note;
    end if;
end $$;
