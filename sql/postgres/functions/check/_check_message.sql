-- The rules for a message (core/limits/message.c has the same for C callers). place: prefix of the
-- argument's name.
create or replace function :"schema"._check_message(
    place text, topic text, payload text, correlation_id text, due_at timestamptz, ttl interval, stream text,
    headers jsonb, message_id uuid, key text, max_attempts int, join_id uuid, causation_id text default null,
    metadata jsonb default null, is_event boolean default null, event_type text default null)
returns void language plpgsql stable :pinned as $$
begin
    if coalesce(topic, '') = '' then
        perform :"schema"._invalid(place || 'topic', 'is empty: give 1 to :topic_max characters');
    elsif char_length(topic) > :topic_max then
        perform :"schema"._invalid(place || 'topic', 'is longer than :topic_max characters');
    end if;
    if payload is null then
        perform :"schema"._invalid(place || 'payload', 'is null: give a text, empty if there is nothing to say');
    elsif octet_length(payload) > :payload_always then   -- the least that the setting can be
        perform :"schema"._fits(place || 'payload', octet_length(payload), 'payload_bytes_max', 67108864);
    end if;
    if char_length(correlation_id) > :correlation_id_max then
        perform :"schema"._invalid(place || 'correlation_id', 'is longer than :correlation_id_max characters');
    end if;
    if char_length(causation_id) > :causation_id_max then
        perform :"schema"._invalid(place || 'causation_id', 'is longer than :causation_id_max characters');
    end if;
    if char_length(stream) > :stream_max then
        perform :"schema"._invalid(place || 'stream', 'is longer than :stream_max characters');
    elsif stream = '00000000-0000-0000-0000-000000000000' then
        perform :"schema"._invalid(place || 'stream', 'is the nil UUID');
    end if;
    if event_type = '' or char_length(event_type) > :event_type_max then
        perform :"schema"._invalid(place || 'event_type', 'must have 1 to :event_type_max characters');
    elsif event_type is not null and is_event is false then
        perform :"schema"._invalid(place || 'event_type', 'cannot go together with is_event false');
    elsif is_event and coalesce(stream, '') = '' then
        perform :"schema"._invalid(place || 'is_event', 'needs a stream: the event is stored as its next version');
    elsif event_type is not null and coalesce(stream, '') = '' then
        perform :"schema"._invalid(place || 'event_type', 'needs a stream: the event is stored as its next version');
    end if;
    if jsonb_typeof(metadata) <> 'object' then
        perform :"schema"._invalid(place || 'metadata', 'must be a JSON object');
    elsif pg_column_size(metadata) > 680 then
        perform :"schema"._fits(place || 'metadata', octet_length(metadata::text), 'headers_bytes_max', 65536);
    end if;
    if not (due_at >= '1970-01-01Z' and due_at < '10000-01-01Z') then
        perform :"schema"._invalid(place || 'due_at', 'is out of range: give a time from 1970 to 9999');
    end if;
    if ttl <= interval '0' or ttl > interval ':delay_days_max days' then
        perform :"schema"._invalid(place || 'ttl', 'is out of range: give more than 0 and at most :delay_days_max days');
    end if;
    if max_attempts not between 1 and :max_attempts_max then
        perform :"schema"._invalid(place || 'max_attempts', 'is out of range: give 1 to :max_attempts_max');
    end if;
    if message_id = '00000000-0000-0000-0000-000000000000' then
        perform :"schema"._invalid(place || 'message_id', 'is the nil UUID');
    end if;
    if key is not null then
        if message_id is not null then
            perform :"schema"._invalid(place || 'key', 'cannot go together with message_id');
        elsif key = '' or char_length(key) > :key_max then
            perform :"schema"._invalid(place || 'key', 'must have 1 to :key_max characters');
        end if;
    end if;
    if headers is not null then
        if jsonb_typeof(headers) <> 'object' then
            perform :"schema"._invalid(place || 'headers', 'must be a JSON object');
        elsif exists (select from jsonb_each(headers) h where jsonb_typeof(h.value) <> 'string') then
            perform :"schema"._invalid(place || 'headers', 'must be a JSON object whose values are strings');
        elsif pg_column_size(headers) > 680 then   -- may be more than 4 KiB as text, the least that the setting can be
            perform :"schema"._fits(place || 'headers', octet_length(headers::text), 'headers_bytes_max', 65536);
        end if;
    end if;
    if join_id = '00000000-0000-0000-0000-000000000000' then
        perform :"schema"._invalid(place || 'join_id', 'is the nil UUID');
    end if;
end $$;
