-- The rules for one object of inbox_enqueue_many.
create or replace function :"schema"._check_inbox_object(o jsonb, place text) returns void
language plpgsql stable :pinned as $$
declare
    field text;
    due timestamptz;
    ttl interval;
    attempts int;
begin
    if jsonb_typeof(o) <> 'object' then
        perform :"schema"._invalid(place, 'must be an object');
    end if;
    select k into field from jsonb_object_keys(o) k
    where k not in ('source', 'id', 'content_hash', 'topic', 'payload', 'correlation_id', 'due_at', 'ttl', 'stream',
                    'headers', 'max_attempts') limit 1;
    if found then
        perform :"schema"._invalid(format('%s.%s', place, field), 'is not a known name');
    end if;
    begin
        field := 'due_at';        due := (o ->> field)::timestamptz;
        field := 'ttl';           ttl := (o ->> field)::interval;
        field := 'max_attempts';  attempts := (o ->> field)::int;
    exception when data_exception then
        perform :"schema"._invalid(format('%s.%s', place, field), 'is malformed');
    end;
    perform :"schema"._check_inbox_key(place || '.', o ->> 'source', o ->> 'id', o ->> 'content_hash');
    perform :"schema"._check_message(place || '.', o ->> 'topic', o ->> 'payload', o ->> 'correlation_id', due, ttl,
        o ->> 'stream', nullif(o -> 'headers', 'null'), null, null, attempts, null);
end $$;
