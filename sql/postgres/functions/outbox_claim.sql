-- Leases up to batch_size ready messages to owner. topics: exact, or a prefix followed by *; null =
-- all. A claim inside a long transaction holds all other claimers back: commit soon.
create or replace function :"schema".outbox_claim(
    owner uuid, lease interval, batch_size int, topics text[] default null)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    return query select * from :"schema"._claim_by_topics(0::smallint, owner, lease, batch_size, topics);
end $$;
