-- Stores an array of objects with the names of inbox_enqueue's arguments, all or none; one result row each, in
-- order. A key that comes twice is stored once.
create or replace function :"schema".inbox_enqueue_many(messages jsonb)
returns setof :"schema".inbox_enqueue_result language plpgsql volatile security definer :hot as $$
declare
    said record;
begin
    if messages is null or jsonb_typeof(messages) <> 'array' then
        perform :"schema"._invalid('messages', 'must be a JSON array of objects');
    end if;
    perform :"schema"._check_inbox_object(e.value, format('messages[%s]', e.ordinality - 1))
    from jsonb_array_elements(messages) with ordinality e(value, ordinality) order by e.ordinality;
    select array_agg(:"schema"._inbox_id(o ->> 'source', o ->> 'id') order by n) as ids,
           array_agg(o ->> 'topic' order by n) as topics, array_agg(o ->> 'payload' order by n) as payloads,
           array_agg(nullif(o ->> 'correlation_id', '') order by n) as correlations,
           array_agg(nullif(o ->> 'stream', '') order by n) as streams,
           array_agg(nullif(o -> 'headers', 'null')::text order by n) as headers,
           array_agg((o ->> 'due_at')::timestamptz order by n) as dues,
           array_agg(ceil(extract(epoch from (o ->> 'ttl')::interval) * 1000)::bigint order by n) as ttls,
           array_agg((o ->> 'max_attempts')::int order by n) as attempts,
           array_agg(o ->> 'source' order by n) as sources, array_agg(o ->> 'id' order by n) as external_ids,
           array_agg(nullif(o ->> 'content_hash', '') order by n) as hashes
    into said from jsonb_array_elements(messages) with ordinality e(o, n);
    if said.ids is not null then
        return query select * from :"schema"._inbox_enqueue(
            said.ids, said.topics, said.payloads, said.correlations, said.streams, said.headers, said.dues, null,
            said.ttls, said.attempts, said.sources, said.external_ids, said.hashes);
    end if;
end $$;
