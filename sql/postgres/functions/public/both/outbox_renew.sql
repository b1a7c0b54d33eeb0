-- Extends leases: they end the time `lease` from now. Never shortens one.
create or replace function :"schema".outbox_renew(
    owner uuid, work_ids bigint[], epochs bigint[] default null, lease interval default '30 seconds',
    subscription text default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._renew(
        case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end,
        owner, work_ids, epochs, lease));
end $$;
