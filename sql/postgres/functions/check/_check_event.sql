-- The rules for an event (core/limits/event.c has the same for C callers). place: prefix of the argument's name.
create or replace function :"schema"._check_event(
    place text, type text, payload text, event_id uuid, headers jsonb, correlation_id text, topic text,
    causation_id text default null)
returns void language plpgsql stable :pinned as $$
declare
    fault constant text[] := case
        when coalesce(type, '') = '' then array['type', 'is empty: give 1 to :event_type_max characters']
        when char_length(type) > :event_type_max then array['type', 'is longer than :event_type_max characters']
        when event_id = '00000000-0000-0000-0000-000000000000' then array['event_id', 'is the nil UUID'] end;
begin
    if fault is not null then
        perform :"schema"._invalid(place || fault[1], fault[2]);
    end if;
    -- The part that it shares with a message. An empty topic is none.
    perform :"schema"._check_message(place, coalesce(nullif(topic, ''), '-'), payload, correlation_id, null, null,
                                     null, headers, null, null, null, null, causation_id);
end $$;
