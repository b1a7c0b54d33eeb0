-- Leases up to batch_size ready messages of the inbox to owner, as outbox_claim does.
create or replace function :"schema".inbox_claim(
    owner uuid, lease interval, batch_size int, topics text[] default null, alone boolean default false)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    return query
        select * from :"schema"._claim_by_topics(1::smallint, owner, lease, batch_size, topics, alone);
end $$;
