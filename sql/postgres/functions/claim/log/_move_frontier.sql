-- Appends the frontier row of a claim if anything changed: the position, the clock, or the lower bounds that keep
-- lookups off dead index entries. The bounds lag a second behind for transactions that commit late. A full look ignores
-- the bounds; it comes at intervals, so that it costs a few percent. Only under the turn. f: the newest row, with the
-- new position if it has moved; has_found: the claim has found something.
create or replace function :"schema"._move_frontier(
    f :"schema".frontier, moved boolean, full_look boolean, has_found boolean, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    looked timestamptz;
    now_us constant bigint := (extract(epoch from ts) * 1000000)::bigint;
begin
    if not moved and not full_look then
        return;
    end if;
    if full_look then
        looked := clock_timestamp();
        f.look_at := looked + least(greatest(interval '1 second', 20 * (looked - ts)), interval '1 minute');
        -- An idle claimer whose look was cheap leaves no row behind.
        if not moved and not has_found and looked - ts < interval '2 milliseconds' then
            return;
        end if;
    end if;
    -- Bounded above as well: leases that were settled in time, and messages that were cancelled before they were due,
    -- leave dead entries in the future.
    f.lease_from := coalesce(least(ts, (
        select l.until from :"schema".lease l where l.box = f.box and l.until >= f.lease_from and l.until <= ts
        order by l.until limit 1)), ts);
    f.expiring_from := coalesce((
        select p.expires_at from :"schema".parked p
        where p.box = f.box and p.epoch is null and p.expires_at >= f.expiring_from and p.expires_at <= ts
        order by p.expires_at limit 1), ts);
    f.due_from := least(ts - interval '1 second', (
        select p.available_at from :"schema".parked p
        where p.box = f.box and p.epoch is null and p.stream is null and p.crash_count = 0
          and p.available_at >= f.due_from and p.available_at <= ts
        order by p.available_at limit 1), (
        select p.available_at from :"schema".parked p
        where p.box = f.box and p.epoch is null and p.stream is null and p.crash_count > 0
          and p.available_at >= f.due_from and p.available_at <= ts
        order by p.available_at limit 1), (
        select s.available_at from :"schema".stream s
        where s.box = f.box and not s.suspect and s.available_at >= f.due_from and s.available_at <= ts
        order by s.available_at limit 1), (
        select s.available_at from :"schema".stream s
        where s.box = f.box and s.suspect and s.available_at >= f.due_from and s.available_at <= ts
        order by s.available_at limit 1));
    -- A transaction that puts held messages back has no turn: its rows may not be visible yet.
    f.pool_from := least((
        select p.place from :"schema".pool p where p.box = f.box and p.place >= f.pool_from order by p.box, p.place limit 1),
        greatest(f.pool_from, coalesce(pg_sequence_last_value(':"schema".pool_place_seq'), 0) - 1000));
    f.epoch := case when now_us >= f.epoch then now_us else f.epoch + 65536 end;   -- see _epoch
    f.seq := f.seq + 1;
    perform :"schema"._add_frontier(f);
end $$;
