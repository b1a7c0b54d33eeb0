-- Extends leases: they end the time `lease` from now. Never shortens one.
create or replace function :"schema".outbox_renew(
    owner uuid, work_ids bigint[], epochs bigint[] default null, lease interval default '30 seconds')
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._renew(0::smallint, owner, work_ids, epochs, lease));
end $$;
