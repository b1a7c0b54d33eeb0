-- Locks the leases of this owner that hold any of these messages, in order.
create or replace function :"schema"._lock_leases(p_box smallint, p_owner uuid, ids bigint[]) returns void
language plpgsql volatile :hot as $$
declare
    wanted int8multirange := :"schema"._multirange(ids);
    f :"schema".frontier;
begin
    if ids = '{}' then
        return;
    end if;
    f := :"schema"._frontier(p_box, 0::smallint);
    perform from :"schema".lease l
    where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from and l.items && wanted
    order by l.epoch, l.part for update;
end $$;
