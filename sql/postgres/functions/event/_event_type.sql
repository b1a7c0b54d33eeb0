-- The type of the event that a message is; null = it is none. is_event says so, or a type of its own does. Without
-- either, a message of a stream is an event if its topic ends in Event. The type is then the last part of the topic,
-- behind the last dot, colon or slash (core/event_type.c has the same rule). Without settings of its own, so that it
-- becomes a part of the query that calls it.
create or replace function :"schema"._event_type(topic text, stream text, is_event boolean, type text) returns text
language sql immutable as $$
    select case when coalesce(stream, '') = '' or is_event is false then null
                when type <> '' then type
                when is_event or topic like '%Event'
                    then coalesce(nullif(substring(topic from '[^.:/]*$'), ''), topic) end
$$;
