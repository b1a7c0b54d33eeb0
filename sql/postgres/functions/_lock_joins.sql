-- Locks what settling these messages will need: the leases of this owner that hold them, then the joins they
-- may count in and those given by id, each in order. For transactions that settle in more than one
-- statement, so that two of them, or one and a reaper, never wait for each other.
create or replace function :"schema"._lock_joins(p_box smallint, p_owner uuid, ids bigint[], joins uuid[]) returns void
language plpgsql volatile security definer :hot as $$
declare
    wanted int8multirange := :"schema"._multirange(ids);
    f :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
begin
    perform from :"schema".lease l
    where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from and l.items && wanted
    order by l.epoch, l.part for update;
    perform :"schema"._lock_in_time(array_agg(j.join_id), array_agg(j.steps))
    from (select i as join_id, null as steps from unnest(joins) i
          union all
          select s.join_id, sum(s.last_id - s.first_id + 1)::bigint from :"schema"._steps(wanted) s
          group by s.join_id) j
    having count(*) > 0;
end $$;
