-- Locks the joins that settling these messages may count in, and those given by id, in the order of
-- their ids: for transactions that settle in more than one statement, so that two of them never wait for
-- each other.
create or replace function :"schema"._lock_joins(ids bigint[], joins uuid[]) returns void
language plpgsql volatile security definer :hot as $$
begin
    perform from :"schema".join_row j
    where j.join_id = any (joins || array(
        select m.join_id from unnest(ids) i cross join lateral (
            select m.join_id from :"schema".join_member m where m.work_id = i and m.status = 0 offset 0) m))
    order by j.join_id for no key update;
end $$;
