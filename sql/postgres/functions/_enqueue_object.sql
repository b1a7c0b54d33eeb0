-- One object of enqueue_many. A payload that is not a string is stored as its JSON text.
create or replace function :"schema"._enqueue_object(o jsonb, place text) returns :"schema".enqueue_result
language plpgsql volatile :hot as $$
declare
    field text;
    due timestamptz;
    ttl interval;
    id uuid;
    attempts int;
    join_id uuid;
    is_unique boolean;
begin
    begin
        field := 'due_at';        due := (o ->> field)::timestamptz;
        field := 'ttl';           ttl := (o ->> field)::interval;
        field := 'message_id';    id := (o ->> field)::uuid;
        field := 'max_attempts';  attempts := (o ->> field)::int;
        field := 'join_id';       join_id := (o ->> field)::uuid;
        field := 'unique';        is_unique := nullif(o -> field, 'null')::boolean;
    exception when data_exception then
        perform :"schema"._invalid(place || field, :"schema"._malformed(field));
    end;
    perform :"schema"._check_message(place, o ->> 'topic', o ->> 'payload', o ->> 'correlation_id', due, ttl,
        o ->> 'stream', nullif(o -> 'headers', 'null'), id, o ->> 'key', attempts, join_id);
    if is_unique and o ->> 'key' is null then
        perform :"schema"._invalid(place || 'unique', 'needs a key');
    end if;
    return :"schema".enqueue(o ->> 'topic', o ->> 'payload', o ->> 'correlation_id', due, ttl, o ->> 'stream',
                        nullif(o -> 'headers', 'null'), id, o ->> 'key', attempts, join_id, is_unique);
end $$;
