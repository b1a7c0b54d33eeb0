-- Appends an array of objects with the names of event_append's arguments to one stream: all or none. One result row
-- each, in order. A payload that is not a string is stored as its JSON text.
create or replace function :"schema".event_append_many(
    stream text, events jsonb, expected_version bigint default null)
returns setof :"schema".event_append_result language plpgsql volatile security definer :hot as $$
#variable_conflict use_variable
declare
    count_max constant int := :event_count_max;
    event record;
    place text;
begin
    perform :"schema"._check_append(stream, expected_version);
    if events is null or jsonb_typeof(events) <> 'array' then
        perform :"schema"._invalid('events', 'must be a JSON array of objects');
    elsif jsonb_array_length(events) not between 1 and count_max then
        perform :"schema"._invalid('events', format('has %s events: give 1 to %s', jsonb_array_length(events), count_max));
    end if;
    for event in select e.o, e.n from jsonb_array_elements(events) with ordinality e(o, n) loop
        place := format('events[%s].', event.n - 1);
        if jsonb_typeof(event.o) <> 'object' then
            perform :"schema"._invalid(rtrim(place, '.'), 'must be an object');
        end if;
        perform :"schema"._check_names(place, event.o, '{type,correlation_id,causation_id,topic}', '{payload,event_id,headers}');
        if not :"schema"._is_castable(event.o ->> 'event_id', 'uuid') then
            perform :"schema"._invalid(place || 'event_id', :"schema"._malformed('event_id'));
        end if;
        perform :"schema"._check_event(
            place, event.o ->> 'type', event.o ->> 'payload', (event.o ->> 'event_id')::uuid,
            nullif(event.o -> 'headers', 'null'), event.o ->> 'correlation_id', event.o ->> 'topic',
            event.o ->> 'causation_id');
    end loop;
    return query
        select a.* from (
            select array_agg(coalesce((e.value ->> 'event_id')::uuid, :"schema"._new_message_id()) order by e.n) as ids,
                   array_agg(e.value ->> 'type' order by e.n) as types,
                   array_agg(e.value ->> 'payload' order by e.n) as payloads,
                   array_agg(nullif(e.value ->> 'correlation_id', '') order by e.n) as correlations,
                   array_agg(e.value ->> 'headers' order by e.n) as headers,
                   array_agg(nullif(e.value ->> 'topic', '') order by e.n) as topics,
                   array_agg(nullif(e.value ->> 'causation_id', '') order by e.n) as causations
            from jsonb_array_elements(events) with ordinality e(value, n)) m,
        lateral :"schema"._event_append(stream, expected_version, m.ids, m.types, m.payloads, m.correlations,
                                        m.headers, m.topics, m.causations) a;
end $$;
