-- A wait that a user enqueued by hand lies in the log until a claim comes past it, and perhaps no worker claims. So
-- functions that evaluate waits look at the next messages beyond the frontier. If a wait is among them, this comes past
-- them like a claim that wants nothing. If there are at least `enough` messages, a wait may lie behind them: then this
-- does the same, unless claims have come past lately (these will reach the wait). Each message is passed once, here or
-- by a claim.
-- True: there may be a wait to evaluate, or more to pass. Call again, in another transaction, since this one has the
-- turn until it ends. A transaction that has written something may go on for long, so it does nothing here. Nor does
-- one that would have to wait for the turn.
create or replace function :"schema"._meet_waits() returns boolean
language plpgsql volatile :hot as $$
declare
    enough constant int := 1000;
    waits constant text := :"schema"._wait_topic();
    ts timestamptz;
    f :"schema".frontier := :"schema"._frontier(0::smallint, 0::smallint);
    beyond constant :"schema".frontier := :"schema"._next_window(f, pg_current_snapshot());
    are_held constant boolean := exists (select from :"schema".pool p where p.box = 0 and p.holder is not null and p.topic = waits);
    are_freed boolean;
    look record;
    got record;
    is_many boolean;   -- and claims do not come past them
begin
    if pg_current_xact_id_if_assigned() is not null or current_setting('transaction_isolation') <> 'read committed' then
        return false;
    end if;
    select count(*) as n, coalesce(bool_or(w.topic = waits), false) as found into look
    from (select x.topic from :"schema"._window(f, enough) x
          union all select x.topic from :"schema"._window(beyond, enough) x) w;
    is_many := look.n >= enough and f.look_at <= clock_timestamp() - interval '5 seconds';   -- see _move_frontier
    if not are_held and not look.found and not is_many then
        return false;
    end if;
    perform :"schema"._check_identity();
    if not :"schema"._turn(0::smallint, false) then
        return false;
    end if;
    are_freed := are_held and :"schema"._free_pool(0::smallint);
    f := :"schema"._frontier(0::smallint, 0::smallint);
    ts := clock_timestamp();
    if look.found or is_many then
        got := :"schema"._come_past(f, 0, ts, null, null, waits, false, 1000);
        perform :"schema"._move_frontier(got.f, got.moved, false, false, ts);
    end if;
    return are_freed or look.found or is_many;
end $$;
