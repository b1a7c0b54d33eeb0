-- One object of event_append_many.
create or replace function :"schema"._check_event_object(o jsonb, n bigint) returns void
language plpgsql immutable :pinned as $$
declare
    place constant text := format('events[%s]', n);
    unknown text;
    id uuid;
begin
    if jsonb_typeof(o) <> 'object' then
        perform :"schema"._invalid(place, 'must be an object');
    end if;
    select k into unknown from jsonb_object_keys(o) k
    where k not in ('type', 'payload', 'event_id', 'headers', 'correlation_id', 'topic') limit 1;
    if found then
        perform :"schema"._invalid(place || '.' || unknown, 'is not a known name');
    end if;
    begin
        id := (o ->> 'event_id')::uuid;
    exception when data_exception then
        perform :"schema"._invalid(place || '.event_id', 'is malformed');
    end;
    perform :"schema"._check_event(place || '.', o ->> 'type', o ->> 'payload', id, nullif(o -> 'headers', 'null'),
                                   o ->> 'correlation_id', o ->> 'topic');
end $$;
