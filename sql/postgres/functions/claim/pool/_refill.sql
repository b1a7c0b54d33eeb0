-- The pool will soon be empty: fills it for claims of this size, unless another claimer has the turn, since that one
-- will do it. A claim that has its messages does this for the next claims: otherwise all of them would wait for the
-- turn at the same time. Claims that need the turn anyway do the full look.
create or replace function :"schema"._refill(p_box smallint, wanted int) returns void
language plpgsql volatile as $$
declare
    f :"schema".frontier;
    ts timestamptz;
    got record;
begin
    if not :"schema"._turn(p_box, false) then
        return;
    end if;
    if current_setting('transaction_timeout', true) = '0' then   -- as in _claim_numbered: now this transaction has the turn
        perform set_config('transaction_timeout', '2min', true);
    end if;
    f := :"schema"._frontier(p_box, 0::smallint);
    ts := clock_timestamp();
    if ts < f.look_at then
        got := :"schema"._come_past(f, 0, ts, null, null, case p_box when 0 then :"schema"._wait_topic() end, false,
                                    greatest(wanted, 30));
        perform :"schema"._move_frontier(got.f, got.moved, false, true, ts);
    end if;
end $$;
