-- Moves the frontier over the next messages and puts them into the pool. Also sweeps rows of the pool whose messages
-- claims inside a transaction took first, beyond the frontier: no other claimer may come to take them. Only under the
-- turn.
create or replace function :"schema"._fill_pool(p_box smallint) returns void
language plpgsql volatile as $$
declare
    ts constant timestamptz := clock_timestamp();
    f :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    full_look constant boolean := ts >= f.look_at;
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
    got record;
    p record;
    left_over int8multirange;
begin
    if full_look then
        f.due_from := '-infinity';
        f.expiring_from := '-infinity';
        f.lease_from := '-infinity';
        f.pool_from := 0;
    end if;
    for p in select * from :"schema"._pool_rows(p_box, null, f.pool_from, 10) loop
        left_over := (select range_agg(int8range(m.work_id, m.work_id + 1))
                      from :"schema"._ids(p.items) i join :"schema".message m on m.work_id = i
                      where m.lane = 0 and (not skips or not :"schema"._is_left_out(p_box, m.work_id)));
        if left_over is null then
            delete from :"schema".pool x where x.box = p_box and x.place = p.place;
        elsif left_over <> p.items then
            update :"schema".pool x
            set items = left_over, size = (select sum(upper(r) - lower(r)) from unnest(left_over) r)
            where x.box = p_box and x.place = p.place;
        end if;
    end loop;
    select * into got from :"schema"._come_past(f, 0, ts, null, null, case p_box when 0 then :"schema"._wait_topic() end, false,
                                                   1);
    perform :"schema"._move_frontier(got.f, got.moved, full_look, false, ts);
end $$;
