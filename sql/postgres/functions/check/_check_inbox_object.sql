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
    perform :"schema"._check_names(place || '.', o, '{source,id,content_hash,topic,correlation_id,stream}',
                                   '{payload,due_at,ttl,headers,max_attempts}');
    begin
        field := 'due_at';        due := (o ->> field)::timestamptz;
        field := 'ttl';           ttl := (o ->> field)::interval;
        field := 'max_attempts';  attempts := (o ->> field)::int;
    exception when data_exception then
        perform :"schema"._invalid(format('%s.%s', place, field), :"schema"._malformed(field));
    end;
    perform :"schema"._check_inbox_key(place || '.', o ->> 'source', o ->> 'id', o ->> 'content_hash');
    perform :"schema"._check_message(place || '.', o ->> 'topic', o ->> 'payload', o ->> 'correlation_id', due, ttl,
        o ->> 'stream', nullif(o -> 'headers', 'null'), null, null, attempts, null);
end $$;
