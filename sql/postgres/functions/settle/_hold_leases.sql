-- Locks the leases of this owner that hold any of these messages, in order. Repeats while something of the owner's is
-- left, as in _take. Returns which of the messages may be in the parking lot.
create or replace function :"schema"._hold_leases(p_box smallint, p_owner uuid, ids bigint[]) returns int8multirange
language plpgsql volatile :hot as $$
declare
    wanted int8multirange := :"schema"._multirange(ids);
    off_path int8multirange := '{}'::int8multirange;
    f :"schema".frontier;
    held record;
begin
    if ids = '{}' then
        return off_path;
    end if;
    f := :"schema"._frontier(p_box, 0::smallint);
    loop
        select coalesce(range_agg(r), '{}') as items,
               coalesce(range_agg(r) filter (where l.has_parked), '{}') as parked
        into held
        from (select l.items, l.has_parked from :"schema".lease l
              where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from and l.items && wanted
              order by l.epoch, l.part for update) l, unnest(l.items) r;
        off_path := off_path + wanted * held.parked;
        wanted := wanted - held.items;
        exit when wanted = '{}' or not exists (
            select from :"schema".lease l
            where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from and l.items && wanted);
    end loop;
    return off_path;
end $$;
