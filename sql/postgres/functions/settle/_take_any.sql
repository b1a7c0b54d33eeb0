-- Takes messages out of whatever leases an owner has on them (OBX-030: owner and ids alone). Every
-- live lease ends at or after the frontier's lease_from, which keeps the scan off dead entries. But one that was claimed
-- in a transaction of the caller's own may be older, so what is not found is looked for without that bound.
-- Repeated while something of ours is left, as in _take_epoch.
create or replace function :"schema"._take_any(p_box smallint, p_owner uuid, wanted int8multirange)
returns table (epoch bigint, items int8multirange, has_parked boolean)
language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    lease_from timestamptz := (:"schema"._frontier(p_box, 0::smallint)).lease_from;
begin
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
