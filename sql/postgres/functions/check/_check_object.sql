-- The rules for one object of enqueue_many, or of inbox_enqueue_many (p_box 1). A payload that is not a string is stored as
-- its JSON text.
create or replace function :"schema"._check_object(o jsonb, place text, p_box smallint) returns void
language plpgsql stable :pinned as $$
declare
    field text;
    due timestamptz;
    ttl interval;
    id uuid;
    attempts int;
    join_id uuid;
    is_unique boolean;
    is_event boolean;
begin
    if jsonb_typeof(o) <> 'object' then
        perform :"schema"._invalid(place, 'must be an object');
    end if;
    if p_box = 0 then
        perform :"schema"._check_names(place || '.', o, '{topic,correlation_id,causation_id,stream,key,event_type}',
                                       '{payload,due_at,ttl,headers,message_id,max_attempts,join_id,unique,metadata,is_event}');
    else
        perform :"schema"._check_names(place || '.', o, '{source,id,content_hash,topic,correlation_id,causation_id,stream,event_type}',
                                       '{payload,due_at,ttl,headers,max_attempts,metadata,is_event}');
    end if;
    begin
        field := 'due_at';        due := (o ->> field)::timestamptz;
        field := 'ttl';           ttl := (o ->> field)::interval;
        field := 'message_id';    id := (o ->> field)::uuid;
        field := 'max_attempts';  attempts := (o ->> field)::int;
        field := 'join_id';       join_id := (o ->> field)::uuid;
        field := 'unique';        is_unique := nullif(o -> field, 'null')::boolean;
        field := 'is_event';      is_event := nullif(o -> field, 'null')::boolean;
    exception when data_exception then
        perform :"schema"._invalid(format('%s.%s', place, field), :"schema"._malformed(field));
    end;
    if p_box = 1 then
        perform :"schema"._check_inbox_key(place || '.', o ->> 'source', o ->> 'id', o ->> 'content_hash');
    end if;
    perform :"schema"._check_message(place || '.', o ->> 'topic', o ->> 'payload', o ->> 'correlation_id', due, ttl,
        o ->> 'stream', nullif(o -> 'headers', 'null'), id, o ->> 'key', attempts, join_id, o ->> 'causation_id', nullif(o -> 'metadata', 'null'), is_event,
        o ->> 'event_type');
    if is_unique and o ->> 'key' is null then
        perform :"schema"._invalid(place || '.unique', 'needs a key');
    end if;
end $$;
