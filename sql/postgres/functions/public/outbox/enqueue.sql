-- Enqueues one message in the caller's transaction: it is delivered if and only if that commits. If a message with this
-- id is already there, this is a no-op that returns the existing ids. A key stands for an id, in its topic; with
-- unique, it stands for its newest message, and only until that message has ended.
--
-- A message with nothing but a topic and a payload is stored here, as in _enqueue_plain, with as few calls and settings
-- as possible. For other messages one condition checks all arguments; only if it fails are they checked one by one, to
-- name the fault.
create or replace function :"schema".enqueue(
    topic text, payload text, correlation_id text default null, due_at timestamptz default null,
    ttl interval default null, stream text default null, headers jsonb default null,
    message_id uuid default null, key text default null, max_attempts int default null,
    join_id uuid default null, "unique" boolean default null, causation_id text default null,
    metadata jsonb default null, is_event boolean default null, event_type text default null)
returns :"schema".enqueue_result language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    id uuid;
    key_id uuid;   -- in all topics, as programs of version 9 have it
    result :"schema".enqueue_result;
begin
    -- Expressions are few and long here, because each has to be set up anew in every transaction.
    if char_length(topic) between 1 and :topic_max and octet_length(payload) <= :payload_always and num_nonnulls(
           correlation_id, due_at, ttl, stream, headers, message_id, key, max_attempts, join_id, "unique", causation_id,
           metadata, is_event, event_type) = 0 then
        insert into :"schema".message as m (message_id, box, lane, created_at, topic, payload)
        values (:"schema"._new_message_id(), 0, 0, clock_timestamp(), enqueue.topic, enqueue.payload)
        returning m.work_id, m.message_id, false into result;
        if pg_sequence_last_value(':"schema".sleeper_flag') >> 32
           > date_part('epoch', clock_timestamp())::bigint - 1577836800 then
            if pg_sequence_last_value(':"schema".sleeper_flag')
               & ((1::bigint << (hashtext(topic) & 15)) | (65536::bigint << (ascii(topic) & 15))) <> 0 then
                perform :"schema"._wake_topic(0::smallint, topic);
            end if;
        end if;
        return result;
    end if;
    if (char_length(topic) between 1 and :topic_max and octet_length(payload) <= :payload_always
        and coalesce(char_length(correlation_id) <= :correlation_id_max, true) and coalesce(char_length(stream) <= :stream_max, true)
        and coalesce(due_at between '1970-01-01Z' and '9999-12-31Z', true)
        and coalesce(ttl > '0' and ttl <= ':delay_days_max days', true)
        and (headers is null or pg_column_size(headers) <= 680
             and not headers @? 'strict $.* ? (@.type() <> "string")')
        and coalesce(message_id <> '00000000-0000-0000-0000-000000000000', true)
        and (key is null or message_id is null and char_length(key) between 1 and :key_max)
        and coalesce(max_attempts between 1 and :max_attempts_max, true)
        and coalesce(join_id <> '00000000-0000-0000-0000-000000000000', true)
        and coalesce(stream <> '00000000-0000-0000-0000-000000000000', true)
        and num_nonnulls(causation_id, metadata, is_event, event_type) = 0) is not true then
        perform :"schema"._check_message('', topic, payload, correlation_id, due_at, ttl, stream, headers,
                                    message_id, key, max_attempts, join_id, causation_id, metadata, is_event, event_type);
    end if;
    id := case when message_id is null and key is null or "unique" then :"schema"._new_message_id() else message_id end;
    if key is not null then
        key_id := :"schema"._hash_id('boxcar:key:', key);
        if "unique" then
            return :"schema"._enqueue_one(
                id, topic, payload, nullif(correlation_id, ''), nullif(stream, ''), headers::text, due_at, null, ttl,
                max_attempts, false, join_id, null, :"schema"._hash_id('boxcar:topic-key:', key_id || topic),
                nullif(causation_id, ''), :"schema"._event_type(topic, stream, is_event, event_type), metadata::text);
        end if;
        id := :"schema"._hash_id('boxcar:topic-key:', key_id || topic);
    elsif "unique" then
        perform :"schema"._invalid('unique', 'needs a key');
    end if;
    return :"schema"._enqueue_one(
        id, topic, payload, nullif(correlation_id, ''), nullif(stream, ''), headers::text, due_at, null, ttl,
        max_attempts, message_id is null and key is null, join_id, key_id, null, nullif(causation_id, ''),
        :"schema"._event_type(topic, stream, is_event, event_type), metadata::text);
end $$;
