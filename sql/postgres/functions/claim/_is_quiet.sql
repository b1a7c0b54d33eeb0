-- Whether there is nothing for a claim but messages in the pool: no parked message is due, no stream has anything, no
-- lease has ended, and no holder of pooled messages has ended. If so, this notes the time in milliseconds, and the
-- answer counts for the next 20 milliseconds (_claim_at_once).
--
-- A transaction that makes something ready removes the mark (_end_quiet), but before its commit: a claim that does not
-- see the change yet may set the mark again. Time also makes messages ready. So while there are messages in the pool,
-- other messages may have to wait for 20 milliseconds, and no longer: the mark is a time, and a time in the future does
-- not count.
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
    -- Each of these is a look into an index range, mostly an empty one. The orders leave no choice of index, not even
    -- to a plan that was made while a table was empty.
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
            order by k.box, k.expires_at limit 1))
       or :"schema"._has_due_stream(p_box, false, f.due_from, ts) or :"schema"._has_due_stream(p_box, true, f.due_from, ts)
       or :"schema"._has_new_streamed(:"schema"._frontier(p_box, 1::smallint)) then
        return false;
    end if;
    return setval(case p_box when 0 then ':"schema".outbox_quiet'::regclass when 1 then ':"schema".inbox_quiet'::regclass
                             else :"schema"._own('quiet', p_box) end,
                  floor(extract(epoch from ts) * 1000)::bigint) > 0;
end $$;
