-- Raises the error of an event id that another stream has: one id names one event, for ever.
create or replace function :"schema"._event_elsewhere(event_id text) returns void
language plpgsql immutable :pinned as $$
begin
    raise exception using errcode = 'BX003', column = 'event_id',
        message = format('the event id%s is one of another stream', coalesce(' ' || event_id, '')),
        hint = 'Give every event an id of its own.';
end $$;
