-- Stores a message from outside in the caller's transaction, once for its key (source, id). If the key is known,
-- nothing is stored, and the answer says duplicate. A key is kept longer than its message. One condition checks all
-- arguments; only if it fails are they checked one by one, to name the fault.
create or replace function :"schema".inbox_enqueue(
    source text, id text, topic text, payload text, content_hash text default null, correlation_id text default null,
    due_at timestamptz default null, ttl interval default null, stream text default null, headers jsonb default null,
    max_attempts int default null, causation_id text default null, metadata jsonb default null,
    is_event boolean default null, event_type text default null)
returns :"schema".inbox_enqueue_result language plpgsql volatile security definer :hot as $$
declare
    result :"schema".inbox_enqueue_result;
begin
    if (char_length(source) between 1 and :source_max and char_length(id) between 1 and :external_id_max
        and coalesce(char_length(content_hash) <= :content_hash_max, true)
        and char_length(topic) between 1 and :topic_max and octet_length(payload) <= :payload_always
        and coalesce(char_length(correlation_id) <= :correlation_id_max, true) and coalesce(char_length(stream) <= :stream_max, true)
        and coalesce(due_at between '1970-01-01Z' and '9999-12-31Z', true)
        and coalesce(ttl > '0' and ttl <= ':delay_days_max days', true)
        and (headers is null or pg_column_size(headers) <= 680
             and not headers @? 'strict $.* ? (@.type() <> "string")')
        and coalesce(max_attempts between 1 and :max_attempts_max, true)
        and coalesce(stream <> '00000000-0000-0000-0000-000000000000', true)
        and num_nonnulls(causation_id, metadata, is_event, event_type) = 0) is not true then
        perform :"schema"._check_inbox_key('', source, id, content_hash);
        perform :"schema"._check_message('', topic, payload, correlation_id, due_at, ttl, stream, headers, null, null,
                                    max_attempts, null, causation_id, metadata, is_event, event_type);
    end if;
    result := :"schema"._inbox_put(
        :"schema"._hash_id('boxcar:inbox:', char_length(source) || ':' || source || id),   -- as _inbox_id
        topic, payload, nullif(correlation_id, ''), nullif(stream, ''), headers, due_at, ttl, max_attempts,
        source, id, nullif(content_hash, ''), clock_timestamp(), false, nullif(causation_id, ''),
        :"schema"._event_type(topic, stream, is_event, event_type), metadata);
    if result.hash_mismatch then
        perform :"schema"._warn_of_hash(source, id);
    end if;
    return result;
end $$;
