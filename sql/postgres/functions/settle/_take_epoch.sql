-- Takes messages out of one lease, all its parts. The common case, a whole lease at once, is a single delete. The owner
-- is compared in a way that no index serves: a plan made while there were no leases would look through all of the
-- owner's, dead entries included, instead of those of one epoch. Repeats while something of the owner's is left: a
-- renewal at the same time may have split it off meanwhile.
create or replace function :"schema"._take_epoch(
    p_box smallint, p_owner uuid, p_epoch bigint, wanted int8multirange)
returns table (epoch bigint, items int8multirange, has_parked boolean)
language plpgsql volatile :hot as $$
#variable_conflict use_column
begin
    loop
        for epoch, items, has_parked in
            delete from :"schema".lease l
            where l.box = p_box and l.epoch = p_epoch and l.owner is not distinct from p_owner
              and l.items <@ wanted
            returning l.epoch, l.items, l.has_parked
        loop
            wanted := wanted - items;
            return next;
        end loop;
        exit when not exists (
            select from :"schema".lease l
            where l.box = p_box and l.epoch = p_epoch and l.owner is not distinct from p_owner
              and l.items && wanted);
        for epoch, items, has_parked in
            with held as materialized (
                select l.part, l.items, l.has_parked from :"schema".lease l
                where l.box = p_box and l.epoch = p_epoch and l.owner is not distinct from p_owner
                  and l.items && wanted
                order by l.part for update),
            emptied as (
                delete from :"schema".lease l using held h
                where l.box = p_box and l.epoch = p_epoch and l.part = h.part and h.items <@ wanted),
            shrunk as (
                update :"schema".lease l set items = h.items - wanted from held h
                where l.box = p_box and l.epoch = p_epoch and l.part = h.part and not h.items <@ wanted)
            select p_epoch, h.items * wanted, h.has_parked from held h
        loop
            wanted := wanted - items;
            return next;
        end loop;
    end loop;
end $$;
