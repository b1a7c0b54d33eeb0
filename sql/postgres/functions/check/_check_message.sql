-- The rules for a message (core/limits/message.c has the same for C callers). place: prefix of the
-- argument's name.
create or replace function :"schema"._check_message(
    place text, topic text, payload text, correlation_id text, due_at timestamptz, ttl interval, stream text,
    headers jsonb, message_id uuid, key text, max_attempts int, join_id uuid, causation_id text default null,
    metadata jsonb default null, is_event boolean default null, event_type text default null)
returns void language plpgsql stable :pinned as $$
declare
    fault constant text[] := case
        when coalesce(topic, '') = '' then array['topic', 'is empty: give 1 to :topic_max characters']
        when char_length(topic) > :topic_max then array['topic', 'is longer than :topic_max characters']
        when payload is null then array['payload', 'is null: give a text, empty if there is nothing to say']
        when char_length(correlation_id) > :correlation_id_max
            then array['correlation_id', 'is longer than :correlation_id_max characters']
        when char_length(causation_id) > :causation_id_max
            then array['causation_id', 'is longer than :causation_id_max characters']
        when char_length(stream) > :stream_max then array['stream', 'is longer than :stream_max characters']
        when stream = '00000000-0000-0000-0000-000000000000' then array['stream', 'is the nil UUID']
        when event_type = '' or char_length(event_type) > :event_type_max
            then array['event_type', 'must have 1 to :event_type_max characters']
        when event_type is not null and is_event is false then array['event_type', 'cannot go together with is_event false']
        when (is_event or event_type is not null) and coalesce(stream, '') = ''
            then array[case when is_event then 'is_event' else 'event_type' end,
                       'needs a stream: the event is stored as its next version']
        when jsonb_typeof(metadata) <> 'object' then array['metadata', 'must be a JSON object']
        when not (due_at >= '1970-01-01Z' and due_at < '10000-01-01Z')
            then array['due_at', 'is out of range: give a time from 1970 to 9999']
        when ttl <= interval '0' or ttl > interval ':delay_days_max days'
            then array['ttl', 'is out of range: give more than 0 and at most :delay_days_max days']
        when max_attempts not between 1 and :max_attempts_max
            then array['max_attempts', 'is out of range: give 1 to :max_attempts_max']
        when message_id = '00000000-0000-0000-0000-000000000000' then array['message_id', 'is the nil UUID']
        when key is not null and message_id is not null then array['key', 'cannot go together with message_id']
        when char_length(key) not between 1 and :key_max then array['key', 'must have 1 to :key_max characters']
        when jsonb_typeof(headers) <> 'object' then array['headers', 'must be a JSON object']
        when headers @? 'strict $.* ? (@.type() <> "string")'
            then array['headers', 'must be a JSON object whose values are strings']
        when join_id = '00000000-0000-0000-0000-000000000000' then array['join_id', 'is the nil UUID'] end;
begin
    if fault is not null then
        perform :"schema"._invalid(place || fault[1], fault[2]);
    end if;
    -- First compared with the least that the settings can be: 680 bytes of jsonb may be more than 4 KiB as text.
    if octet_length(payload) > :payload_always then
        perform :"schema"._fits(place || 'payload', octet_length(payload), 'payload_bytes_max', 67108864);
    end if;
    if pg_column_size(metadata) > 680 then
        perform :"schema"._fits(place || 'metadata', octet_length(metadata::text), 'headers_bytes_max', 65536);
    end if;
    if pg_column_size(headers) > 680 then
        perform :"schema"._fits(place || 'headers', octet_length(headers::text), 'headers_bytes_max', 65536);
    end if;
end $$;
