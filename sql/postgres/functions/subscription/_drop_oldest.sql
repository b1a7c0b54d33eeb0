-- A subscription may lag so far (max_lag) and no further: its oldest unread messages become dead letters (expired), at most
-- max_messages. Returns how many. It goes the way of a claim, under the turn.
create or replace function :"schema"._drop_oldest(p_reader smallint, max_messages int) returns bigint
language plpgsql volatile :hot as $$
declare
    r record;
    ts timestamptz := clock_timestamp();
    f :"schema".frontier;
    too_many bigint := 0;
    before timestamptz;   -- what was stored earlier is too old
    got record;
    part record;
    ids bigint[];
    kept bigint[];
    late bigint[];
begin
    select x.max_lag_ms, x.max_lag_count into r from :"schema".reader x where x.number = p_reader;
    if num_nonnulls(r.max_lag_ms, r.max_lag_count) = 0 then
        return 0;
    end if;
    before := coalesce(ts - make_interval(secs => r.max_lag_ms / 1000.0), '-infinity');
    if r.max_lag_count is not null then
        too_many := (select count(*) from (
            select from :"schema"._fresh m where m.reader = p_reader limit r.max_lag_count + max_messages) x) - r.max_lag_count;
    end if;
    -- Of streams, by themselves: they stay in the log, and their heads change.
    late := array(
        select m.work_id from :"schema"._fresh m where m.reader = p_reader and m.lane = 1 and (m.created_at < before or too_many > 0)
        order by m.work_id limit max_messages);
    if too_many > 0 then   -- the oldest of both lanes
        late := array(
            select o.work_id from (
                select m.work_id, m.lane, m.created_at from :"schema"._fresh m where m.reader = p_reader
                order by m.work_id limit greatest(too_many, 0)) o
            where o.lane = 1
            union
            select m.work_id from :"schema".message m where m.work_id = any (late) and m.created_at < before
            limit max_messages);
    end if;
    late := case when late = '{}' then late else :"schema"._free_to_die(p_reader, late) end;
    if late <> '{}' then
        perform :"schema"._bury_fresh(p_reader, 1::smallint, late, 3::smallint, 'expired', 'it lagged too far behind', null, ts);
        too_many := too_many - cardinality(late);
    end if;
    if not exists (select from :"schema"._fresh m where m.reader = p_reader and m.lane = 0 and (m.created_at < before or too_many > 0)) then
        return cardinality(late);
    end if;
    if not :"schema"._turn(p_reader, false) then
        return cardinality(late);
    end if;
    f := :"schema"._frontier(p_reader, 0::smallint);
    part := :"schema"._take_pooled(p_reader, max_messages, null, 0);
    part := :"schema"._leave_held(p_reader, part.taken, part.total);
    ids := array(select :"schema"._ids(part.items));
    if cardinality(ids) < max_messages then
        got := :"schema"._come_past(f, max_messages - cardinality(ids), ts, null, null, null, true, 0);
        perform :"schema"._move_frontier(got.f, got.moved, false, true, ts);
        part := :"schema"._leave_held(p_reader, :"schema"._multirange(got.taken), cardinality(got.taken));
        ids := ids || array(select :"schema"._ids(part.items));
    end if;
    kept := array(
        select m.work_id from (
            select m.work_id, m.created_at, row_number() over (order by m.work_id) as n
            from :"schema".message m where m.work_id = any (ids)) m
        where m.created_at >= before and m.n > too_many);
    insert into :"schema".pool (box, topic, size, items)
    select p_reader, m.topic, count(*), range_agg(int8range(m.work_id, m.work_id + 1))
    from :"schema".message m where m.work_id = any (kept) group by m.topic;
    ids := array(select i from unnest(ids) i where i <> all (kept));
    if ids <> '{}' then
        insert into :"schema".attempt (work_id, at, retry_count, outcome, error, reader)
        select i, ts, 0, 'expired', 'it lagged too far behind', p_reader from unnest(ids) i;
        perform :"schema"._bury(p_reader, ids, 3::smallint, array_fill('it lagged too far behind'::text, array[cardinality(ids)]), ts);
    end if;
    return cardinality(ids) + cardinality(late);
end $$;
