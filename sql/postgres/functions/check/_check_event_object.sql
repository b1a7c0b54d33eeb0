-- One object of event_append_many.
create or replace function :"schema"._check_event_object(o jsonb, n bigint) returns void
language plpgsql immutable :pinned as $$
declare
    place constant text := format('events[%s]', n);
    id uuid;
begin
    if jsonb_typeof(o) <> 'object' then
        perform :"schema"._invalid(place, 'must be an object');
    end if;
    perform :"schema"._check_names(place || '.', o, '{type,correlation_id,causation_id,topic}', '{payload,event_id,headers}');
    begin
        id := (o ->> 'event_id')::uuid;
    exception when data_exception then
        perform :"schema"._invalid(place || '.event_id', :"schema"._malformed('event_id'));
    end;
    perform :"schema"._check_event(place || '.', o ->> 'type', o ->> 'payload', id, nullif(o -> 'headers', 'null'),
                                   o ->> 'correlation_id', o ->> 'topic', o ->> 'causation_id');
end $$;
