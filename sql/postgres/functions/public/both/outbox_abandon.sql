-- Ends an attempt badly: the message is ready again after delay (null = the store's backoff), and one attempt is spent.
create or replace function :"schema".outbox_abandon(
    owner uuid, work_ids bigint[], epochs bigint[] default null, error text default null,
    delay interval default null, subscription text default null)
returns setof bigint language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_settle(owner, work_ids, epochs);
    return query select unnest(:"schema"._abandon(
        case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end,
        owner, work_ids, epochs,
                                                  array[:"schema"._check_delay(delay)], array[error]));
end $$;
