-- outbox_claim for the inbox.
create or replace function :"schema".inbox_claim(
    owner uuid, lease interval, batch_size int, topics text[] default null)
returns setof :"schema".claimed_message language plpgsql volatile security definer :hot as $$
begin
    return query select * from :"schema"._claim_by_topics(1::smallint, owner, lease, batch_size, topics);
end $$;
