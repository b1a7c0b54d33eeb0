-- Reads the payload of a wait, with names in snake_case, camelCase or PascalCase; wait_parse() in C reads the same.
-- fault: why it cannot be evaluated, else null.
create or replace function :"schema"._read_wait(
    payload text, out join_id uuid, out allow_failures boolean, out complete_topic text, out complete_payload text,
    out fail_topic text, out fail_payload text, out fault text)
language plpgsql stable :pinned as $$
declare
    names constant text[] := array['join_id', 'fail_if_any_step_failed', 'on_complete_topic', 'on_complete_payload',
                                   'on_fail_topic', 'on_fail_payload'];
    given jsonb;
    wait jsonb;
begin
    begin
        given := payload::jsonb;
    exception
        when insufficient_resources then
            raise;
        when others then   -- also for a value that does not fit into a jsonb, which has no one error code
            given := null;
    end;
    if given is null or jsonb_typeof(given) <> 'object' then
        fault := 'the payload of a wait must be a JSON object';
        return;
    end if;
    select jsonb_object_agg(n.name, coalesce(given -> n.name, given -> n.camel, given -> n.pascal, 'null'))
    into wait
    from (select n as name, lower(left(p, 1)) || substr(p, 2) as camel, p as pascal
          from unnest(names) n cross join lateral (select replace(initcap(replace(n, '_', ' ')), ' ', '')) x(p)) n;
    select format('the payload of a wait: %s %s', n, case
               when n = 'fail_if_any_step_failed' then 'is neither true nor false' else 'is not a string' end)
    into fault from unnest(names) n
    where jsonb_typeof(wait -> n) not in ('null', case n when 'fail_if_any_step_failed' then 'boolean' else 'string' end)
    limit 1;
    if fault is not null then
        return;
    end if;
    if not coalesce(wait ->> 'join_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', false)
       or wait ->> 'join_id' = '00000000-0000-0000-0000-000000000000' then
        fault := 'the payload of a wait: join_id is not the id of a join';
        return;
    end if;
    join_id := (wait ->> 'join_id')::uuid;
    allow_failures := not coalesce((wait ->> 'fail_if_any_step_failed')::boolean, true);
    complete_topic := wait ->> 'on_complete_topic';
    complete_payload := coalesce(wait ->> 'on_complete_payload', '');
    fail_topic := nullif(wait ->> 'on_fail_topic', '');
    fail_payload := coalesce(wait ->> 'on_fail_payload', '');
    if coalesce(complete_topic, '') = '' or char_length(complete_topic) > :topic_max then
        fault := 'the payload of a wait: on_complete_topic must have 1 to :topic_max characters';
    elsif char_length(fail_topic) > :topic_max then
        fault := 'the payload of a wait: on_fail_topic must have 1 to :topic_max characters';
    elsif greatest(octet_length(complete_payload), octet_length(fail_payload))
          > :"schema"._setting('payload_bytes_max', 67108864) then   -- no ack may fail because it was lowered
        fault := 'the payload of a wait: what should follow is larger than the setting payload_bytes_max';
    end if;
end $$;
