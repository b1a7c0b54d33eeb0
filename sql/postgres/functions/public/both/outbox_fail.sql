-- Fails leased messages for good (dead letters, reason rejected).
create or replace function :"schema".outbox_fail(
    owner uuid, work_ids bigint[], epochs bigint[] default null, error text default null,
    subscription text default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._fail(
        case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end,
        owner, work_ids, epochs, array[error], 1::smallint));
end $$;
