-- Of messages that a claimer is about to lease, some were locked by somebody, or have left the straight path: returns those
-- that are free. What an open transaction holds goes back into the pool under its number, and is free again if that
-- ends without having taken it.
--
-- First the lock, then a look in the next statement: a snapshot from before the lock does not see what its last holder did.
create or replace function :"schema"._sidestep(p_box smallint, items int8multirange) returns int8multirange
language plpgsql volatile as $$
declare
    untouched constant bigint[] := array(
        select m.work_id from :"schema"._ids(items) i cross join lateral (
            select m.work_id from :"schema".message m where m.work_id = i and m.xmax = 0 and m.lane = 0 limit 1) m);
    others constant bigint[] := array(select i from :"schema"._ids(items) i where i <> all (untouched));
    free constant bigint[] := array(
        select m.work_id from :"schema".message m where m.work_id = any (others) and m.lane = 0 for update skip locked);
begin
    insert into :"schema".pool (box, holder, topic, size, items)
    select p_box, m.holder, m.topic, count(*), range_agg(int8range(m.work_id, m.work_id + 1))
    from (select m.work_id, m.topic, :"schema"._full_xid(m.xmax) as holder
          from unnest(others) i cross join lateral (
              select m.work_id, m.topic, m.xmax from :"schema".message m where m.work_id = i and m.lane = 0 limit 1) m
          where i <> all (free)) m
    group by m.holder, m.topic;
    perform :"schema"._end_quiet(p_box);
    return :"schema"._multirange(untouched || free);
end $$;
