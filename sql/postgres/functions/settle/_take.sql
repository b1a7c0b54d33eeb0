-- Takes messages out of the leases that their owner holds, and says out of which: the fence of every settling call
-- (BX-002). epochs: null = any lease that the owner has on them, one value = that lease only, else by position (0 =
-- any). Rows are locked in the order of their keys.
create or replace function :"schema"._take(p_box smallint, p_owner uuid, ids bigint[], epochs bigint[])
returns table (epoch bigint, items int8multirange, has_parked boolean)
language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    wanted int8multirange;
    lease_from timestamptz;
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
        select array_agg(i) into ids from unnest(ids, epochs) z(i, e) where coalesce(e, 0) = 0;
    end if;
    if ids is null then
        return;
    end if;
    -- Out of any lease that the owner has on the rest (OBX-030: owner and ids alone). Every live lease ends at or after
    -- the frontier's lease_from, which keeps the scan off dead entries. But a lease that was claimed inside a
    -- transaction of the caller may be older. So messages that are not found are looked for without that bound. Repeats
    -- while something of the owner's is left, as in _take_epoch.
    wanted := :"schema"._multirange(ids);
    lease_from := (:"schema"._frontier(p_box, 0::smallint)).lease_from;
    loop
        for epoch, items, has_parked in
            with held as materialized (
                select l.epoch, l.part, l.items, l.has_parked from :"schema".lease l
                where l.box = p_box and l.owner = p_owner and l.until >= lease_from and l.items && wanted
                order by l.epoch, l.part for update),
            emptied as (
                delete from :"schema".lease l using held h
                where l.box = p_box and l.epoch = h.epoch and l.part = h.part and h.items <@ wanted),
            shrunk as (
                update :"schema".lease l set items = h.items - wanted from held h
                where l.box = p_box and l.epoch = h.epoch and l.part = h.part and not h.items <@ wanted)
            select h.epoch, h.items * wanted, h.has_parked from held h
        loop
            wanted := wanted - items;
            return next;
        end loop;
        exit when wanted = '{}';
        if not exists (
            select from :"schema".lease l
            where l.box = p_box and l.owner = p_owner and l.until >= lease_from and l.items && wanted) then
            exit when lease_from = '-infinity';
            lease_from := '-infinity';
        end if;
    end loop;
end $$;
