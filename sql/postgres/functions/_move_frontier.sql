-- Appends the frontier row of a claim, if anything changed: position, epoch, or the lower bounds
-- that keep lookups off dead index entries. Those lag a second behind for what commits late, and a
-- full look without them comes at intervals that cost a few percent.
create or replace function :"schema"._move_frontier(
    before :"schema".frontier, f :"schema".frontier, full_look boolean, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    looked timestamptz;
    moved boolean := (f.epoch, f.position_xid, f.position_id, f.suspects_next)
        is distinct from
        (before.epoch, before.position_xid, before.position_id, before.suspects_next);
begin
    if not moved and not full_look then
        return;
    end if;
    if full_look then
        looked := clock_timestamp();
        f.look_at := looked + least(greatest(interval '1 second', 20 * (looked - ts)), interval '1 minute');
        -- An idle claimer whose look was cheap leaves no row behind.
        if not moved and looked - ts < interval '2 milliseconds' then
            return;
        end if;
    end if;
    -- Bounded above as well: leases settled in time, and messages cancelled before they were due,
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
    f.seq := before.seq + 1;
    perform :"schema"._add_frontier(f);
end $$;
