-- Whether there is nothing for a claim but messages in the pool: nothing parked that is due, no stream, no lease that has
-- ended, nothing whose holder has ended. If so, the time is noted in milliseconds, and that counts for the 20 that
-- follow (_claim_at_once).
--
-- What makes something ready takes the mark away (_end_quiet), though before its commit: a claim that does not see it yet
-- may set the mark again. And time makes things ready by itself. So, while there are messages in the pool, others may
-- have to wait for 20 milliseconds, and no longer: the mark is a time, and one from the future counts as none.
create or replace function :"schema"._is_quiet(p_box smallint) returns boolean language plpgsql volatile as $$
declare
    f record;
    ts timestamptz;
begin
    select x.lease_from, x.due_from, x.expiring_from into f
    from :"schema".frontier x where x.box = p_box and x.lane = 0 order by x.box desc, x.lane desc, x.seq desc limit 1;
    ts := clock_timestamp();
    if (greatest(f.lease_from, f.due_from, f.expiring_from) <= ts) is not true then
        return false;
    end if;
    -- Everything that would need more: each is a look into an index range, mostly an empty one. The orders leave no
    -- choice of index, not even to a plan that was made while a table was empty.
    if coalesce(
           (select true from :"schema".pool h where h.box = p_box and h.holder is not null
              and not :"schema"._is_running(h.holder) limit 1),
           (select true from :"schema".lease l where l.box = p_box and l.until >= f.lease_from and l.until <= ts
            order by l.until limit 1),
           (select true from :"schema".parked k
            where k.box = p_box and k.epoch is null and k.stream is null and k.crash_count = 0
              and k.available_at >= f.due_from and k.available_at <= ts order by k.box, k.available_at limit 1),
           (select true from :"schema".parked k
            where k.box = p_box and k.epoch is null and k.stream is null and k.crash_count > 0
              and k.available_at >= f.due_from and k.available_at <= ts order by k.box, k.available_at limit 1),
           (select true from :"schema".parked k
            where k.box = p_box and k.epoch is null and k.expires_at >= f.expiring_from and k.expires_at <= ts
            order by k.box, k.expires_at limit 1),
           (select true from :"schema".stream s
            where s.box = p_box and not s.suspect and s.available_at >= f.due_from and s.available_at <= ts
            order by s.box, s.suspect, s.available_at limit 1),
           (select true from :"schema".stream s
            where s.box = p_box and s.suspect and s.available_at >= f.due_from and s.available_at <= ts
            order by s.box, s.suspect, s.available_at limit 1),
           (select true from (select y.base, y.era from :"schema".frontier y where y.box = p_box and y.lane = 1
                              order by y.box desc, y.lane desc, y.seq desc limit 1) y
            where exists (   -- as in _has_new_streamed
                select from :"schema".message m
                where m.box = p_box and m.lane = 1 and m.era = y.era and m.xid >= pg_snapshot_xmax(y.base))
            or pg_snapshot_xmin(y.base) <> pg_snapshot_xmax(y.base) and exists (
                select from pg_snapshot_xip(y.base) x(xid) cross join lateral (
                    select from :"schema".message m where m.box = p_box and m.lane = 1 and m.era = y.era and m.xid = x.xid
                    order by m.xid, m.work_id limit 1) m))) then
        return false;
    end if;
    return setval(case p_box when 0 then ':"schema".outbox_quiet'::regclass else ':"schema".inbox_quiet'::regclass end,
                  floor(extract(epoch from ts) * 1000)::bigint) > 0;
end $$;
