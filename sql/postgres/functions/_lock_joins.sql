-- Locks what settling these messages will need: the leases of this owner that hold them, box by box, then the
-- joins they may count in and those given by id, all at once, each in order. For transactions that settle in
-- more than one statement, so that two of them, or one and a reaper, never wait for each other.
create or replace function :"schema"._lock_joins(
    p_owner uuid, outbox_ids bigint[], inbox_ids bigint[], joins uuid[]) returns void
language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._lock_leases(0::smallint, p_owner, outbox_ids);
    perform :"schema"._lock_leases(1::smallint, p_owner, inbox_ids);
    perform :"schema"._lock_in_time(joins || array(
        select m.join_id from unnest(outbox_ids || inbox_ids) i cross join lateral (
            select m.join_id from :"schema".join_member m where m.work_id = i and m.status = 0 offset 0) m));
end $$;
