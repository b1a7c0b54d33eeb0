-- Takes messages out of the leases their owner holds and says out of which: the fence of every
-- settling call (BX-002). epochs: null = whatever lease the owner has on them, one value = that
-- lease only, else by position (0 = any). Rows are locked in the order of their keys.
create or replace function :"schema"._take(p_box smallint, p_owner uuid, ids bigint[], epochs bigint[])
returns table (epoch bigint, items int8multirange, has_parked boolean)
language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    wanted int8multirange;
    any_epoch bigint[] := ids;
begin
    if cardinality(epochs) = 1 and epochs[1] <> 0 then
        wanted := :"schema"._multirange(ids);
        return query select t.epoch, t.items, t.has_parked
            from :"schema"._take_epoch(p_box, p_owner, epochs[1], wanted) t;
        return;
    end if;
    if epochs is not null and exists (select from unnest(epochs) e where e <> 0) then
        return query
            select t.epoch, t.items, t.has_parked
            from (select e, :"schema"._multirange(array_agg(distinct i)) as part
                  from unnest(ids, epochs) z(i, e) where e <> 0 group by e order by e) g,
                 :"schema"._take_epoch(p_box, p_owner, g.e, g.part) t;
        select array_agg(i) into any_epoch from unnest(ids, epochs) z(i, e) where coalesce(e, 0) = 0;
    end if;
    if any_epoch is not null then
        return query select t.epoch, t.items, t.has_parked
            from :"schema"._take_any(p_box, p_owner, :"schema"._multirange(any_epoch)) t;
    end if;
end $$;
