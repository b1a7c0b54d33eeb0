-- Leases up to batch_size ready messages to owner. topics: exact, or a prefix followed by *; null = all.
-- subscription: whose messages; null = the main reader of the box, as in all functions of its kind.
--
-- A claim inside a transaction of the caller makes no other claimer wait, however long the transaction stays open. If
-- it rolls back, the claimed messages are ready again. alone: this claim is a transaction by itself; then it costs
-- less, and its commit need not reach the disk. alone is ignored in a transaction that began more than 50 milliseconds
-- ago, or has written something.
create or replace function :"schema".outbox_claim(
    owner uuid, lease interval, batch_size int, topics text[] default null, alone boolean default false,
    subscription text default null)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    return query
        select * from :"schema"._claim_by_topics(
            case when subscription is null then 0::smallint else :"schema"._reader(subscription, 0::smallint) end,
            owner, lease, batch_size, topics, alone);
end $$;
