-- outbox_defer for the inbox.
create or replace function :"schema".inbox_defer(
    owner uuid, work_ids bigint[], epochs bigint[] default null, delay interval default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._defer(1::smallint, owner, work_ids, epochs,
                                                array[:"schema"._check_delay(delay)]));
end $$;
