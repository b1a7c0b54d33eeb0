-- Locks what settling these messages will need: the leases of this owner that hold them, box by box, then the
-- joins they may count in and those given by id, all at once, each in order. For transactions that settle in
-- more than one statement, so that two of them, or one and a reaper, never wait for each other.
create or replace function :"schema"._lock_joins(
    p_owner uuid, outbox_ids bigint[], inbox_ids bigint[], joins uuid[]) returns void
language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._lock_leases(0::smallint, p_owner, outbox_ids);
    perform :"schema"._lock_leases(1::smallint, p_owner, inbox_ids);
    perform :"schema"._lock_in_time(array_agg(j.join_id), array_agg(j.steps))
    from (select i as join_id, null as steps from unnest(joins) i
          union all
          select s.join_id, sum(s.last_id - s.first_id + 1)::bigint
          from :"schema"._steps(:"schema"._multirange(outbox_ids || inbox_ids)) s
          group by s.join_id) j
    having count(*) > 0;
end $$;
