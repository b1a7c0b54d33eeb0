-- Of messages that a claimer is about to lease, other transactions have locked some, or some have left the straight
-- path: returns those that are free. Messages that an open transaction holds go back into the pool under its number.
-- They are free again if it ends without having taken them. A message that would have to be parked is marked, and
-- parked then (_free_pool).
--
-- First the lock, then a look in the next statement: a snapshot from before the lock does not show what its last holder
-- did.
create or replace function :"schema"._sidestep(p_box smallint, items int8multirange) returns int8multirange
language plpgsql volatile as $$
declare
    untouched constant bigint[] := array(
        select m.work_id from :"schema"._ids(items) i cross join lateral (
            select m.work_id from :"schema".message m where m.work_id = i and m.xmax = 0 and m.lane = 0 limit 1) m);
    others constant bigint[] := array(select i from :"schema"._ids(items) i where i <> all (untouched));
    locked constant bigint[] := array(
        select m.work_id from :"schema".message m where m.work_id = any (others) and m.lane = 0 for update skip locked);
    -- A claim of this reader inside a transaction may have taken them beyond the frontier.
    -- Others are held for another reader.
    not_ours constant bigint[] := case when pg_sequence_last_value(':"schema".reader_number') is null then '{}' else array(
        select m.work_id from unnest(others) i cross join lateral (
            select m.work_id, m.xmax from :"schema".message m where m.work_id = i and m.lane = 0 limit 1) m
        where i <> all (locked) and m.xmax <> 0 and :"schema"._holder(:"schema"._full_xid(m.xmax)) <> p_box) end;
    free constant bigint[] := case when pg_sequence_last_value(':"schema".skip_flag') is null then locked || not_ours else array(
        select i from unnest(locked || not_ours) i where not :"schema"._is_left_out(p_box, i)) end;
begin
    insert into :"schema".pool (box, holder, to_park, topic, size, items)
    select p_box, m.holder, m.to_park, m.topic, count(*), range_agg(int8range(m.work_id, m.work_id + 1))
    from (select m.work_id, m.topic, :"schema"._full_xid(m.xmax) as holder,
                 m.due_at is not null or m.expires_at is not null
                     or p_box = 0 and m.topic = :"schema"._wait_topic() as to_park
          from unnest(others) i cross join lateral (
              select m.work_id, m.topic, m.xmax, m.due_at, m.expires_at from :"schema".message m
              where m.work_id = i and m.lane = 0 limit 1) m
          where i <> all (locked) and i <> all (not_ours)) m
    group by m.holder, m.to_park, m.topic;
    perform :"schema"._end_quiet(p_box);
    return :"schema"._multirange(untouched || free);
end $$;
