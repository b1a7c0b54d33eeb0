-- Stores a message from outside in the caller's transaction, once for its key (source, id): a key that is known
-- makes it a no-op that says so, for as long as the key is kept, which is longer than the message.
create or replace function :"schema".inbox_enqueue(
    source text, id text, topic text, payload text, content_hash text default null, correlation_id text default null,
    due_at timestamptz default null, ttl interval default null, stream text default null, headers jsonb default null,
    max_attempts int default null)
returns :"schema".inbox_enqueue_result language plpgsql volatile security definer :hot as $$
declare
    result :"schema".inbox_enqueue_result;
begin
    perform :"schema"._check_inbox_key('', source, id, content_hash);
    perform :"schema"._check_message('', topic, payload, correlation_id, due_at, ttl, stream, headers, null, null,
                                     max_attempts, null);
    select * into result from :"schema"._inbox_enqueue(
        array[:"schema"._inbox_id(source, id)], array[topic], array[payload], array[nullif(correlation_id, '')],
        array[nullif(stream, '')], array[headers::text], array[due_at], null,
        array[ceil(extract(epoch from ttl) * 1000)::bigint], array[max_attempts],
        array[source], array[id], array[nullif(content_hash, '')]);
    if result.hash_mismatch then
        perform :"schema"._warn_of_hash(source, id);
    end if;
    return result;
end $$;
