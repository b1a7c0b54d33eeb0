-- As _refuse_message, for an event.
create or replace function :"schema"._refuse_event(
    id uuid, type text, payload text, correlation_id text, headers jsonb, causation_id text default null)
returns boolean language plpgsql volatile :pinned as $$
begin
    if id is null then
        perform :"schema"._invalid('event_id', 'is missing');
    end if;
    perform :"schema"._check_event('', type, payload, id, headers, correlation_id, null, causation_id);
    return true;
end $$;
