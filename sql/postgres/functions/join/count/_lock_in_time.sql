-- Locks joins, in the order of their ids, each to count p_steps steps in it (null: for any other change). Returns by
-- position the lane of each (_lock_join), or null where an open transaction holds the join. That one may hold it for
-- long, and a transaction that settles messages has other work to do: after a moment it takes only the joins that are
-- free.
create or replace function :"schema"._lock_in_time(p_joins uuid[], p_steps bigint[] default null) returns smallint[]
language plpgsql volatile set lock_timeout = '800ms' as $$
declare
    lanes smallint[] := array_fill(0::smallint, array[cardinality(p_joins)]);
    wanted record;
    free uuid[];
begin
    begin   -- all of them, or none
        if not exists (select from unnest(p_joins) i cross join lateral (
                           select j.last_lane from :"schema".join_row j where j.join_id = i limit 1) j
                       where j.last_lane > 0) then
            perform from :"schema".join_row j where j.join_id = any (p_joins) order by j.join_id for no key update;
            return lanes;
        end if;
        for wanted in
            select i.join_id, i.steps, i.n from unnest(p_joins, p_steps) with ordinality i(join_id, steps, n)
            order by i.join_id, i.steps nulls first
        loop
            lanes[wanted.n] := :"schema"._lock_join(wanted.join_id, wanted.steps);
        end loop;
        return lanes;
    exception when lock_not_available then
        null;
    end;
    free := array(select j.join_id from :"schema".join_row j where j.join_id = any (p_joins)
                  order by j.join_id for no key update skip locked);
    free := array(select f from unnest(free) f cross join lateral (
                      select j.last_lane from :"schema".join_row j where j.join_id = f limit 1) j
                  where j.last_lane = 0 or (
                      select count(*) from generate_series(0, j.last_lane) l(lane) cross join lateral (
                          select from :"schema".join_progress p where p.join_id = f and p.lane = l.lane
                          order by p.seq desc limit 1 for no key update skip locked) p) > j.last_lane);
    return array(select case when i = any (free) then 0 end from unnest(p_joins) with ordinality i(i, n) order by n);
end $$;
