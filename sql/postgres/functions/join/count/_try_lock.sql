-- Locks joins in the order of their ids, or none of them; see _lock_in_time. Null: somebody holds one.
create or replace function :"schema"._try_lock(p_joins uuid[], p_steps bigint[]) returns smallint[]
language plpgsql volatile set lock_timeout = '800ms' as $$
declare
    lanes smallint[] := array_fill(0::smallint, array[cardinality(p_joins)]);
    wanted record;
begin
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
    return null;
end $$;
