-- Marks leased messages as done; returns the work ids that it affected.
create or replace function :"schema".outbox_ack(owner uuid, work_ids bigint[], epochs bigint[] default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._ack(0::smallint, owner, work_ids, epochs));
end $$;
