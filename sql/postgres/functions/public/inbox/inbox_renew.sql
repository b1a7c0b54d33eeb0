-- outbox_renew for the inbox.
create or replace function :"schema".inbox_renew(
    owner uuid, work_ids bigint[], epochs bigint[] default null, lease interval default '30 seconds')
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._renew(1::smallint, owner, work_ids, epochs, lease));
end $$;
