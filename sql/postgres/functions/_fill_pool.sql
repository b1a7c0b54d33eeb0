-- Moves the frontier over the next messages and puts them into the pool. Only under the turn.
create or replace function :"schema"._fill_pool(p_box smallint) returns void
language plpgsql volatile as $$
declare
    ts constant timestamptz := clock_timestamp();
    got record;
begin
    select * into got from :"schema"._come_past(
        :"schema"._frontier(p_box, 0::smallint), 0, ts, null, null,
        case p_box when 0 then :"schema"._wait_topic() end, false);
    perform :"schema"._move_frontier(got.f, got.moved, false, false, ts);
end $$;
