-- Appends one event to a stream in the caller's transaction. expected_version: the version that the stream must have, 0
-- = it must be new, null = any; else BX003. If the stream already has the event id, the answer says duplicate. With a
-- topic the event is also enqueued as a message, whose id is the event's id; BX003 if another message has that id.
create or replace function :"schema".event_append(
    stream text, type text, payload text, expected_version bigint default null, event_id uuid default null,
    headers jsonb default null, correlation_id text default null, topic text default null,
    causation_id text default null)
returns :"schema".event_append_result language plpgsql volatile security definer :hot as $$
#variable_conflict use_variable
declare
    result :"schema".event_append_result;
begin
    perform :"schema"._check_append(stream, expected_version);
    perform :"schema"._check_event('', type, payload, event_id, headers, correlation_id, topic, causation_id);
    select a.event_id, a.version, a.duplicate into result from :"schema"._event_append(
        stream, expected_version, array[coalesce(event_id, :"schema"._new_message_id())], array[type], array[payload],
        array[nullif(correlation_id, '')], array[headers::text],
        case when topic <> '' then array[topic] end, array[nullif(causation_id, '')]) a;
    return result;
end $$;
