-- Every fault of an array of new messages: the rules of _check_message, for many at once. A value that is missing has
-- no fault of its form. Only unusual messages are tried value by value, each in a subtransaction. Messages from outside
-- (p_box 1) also have a key: its faults come first.
create or replace function :"schema"._message_faults(messages jsonb, place text, p_box smallint)
returns table (argument text, problem text) language plpgsql stable as $$
begin
    return query
    with unusual as materialized (
        select format('%s[%s]', place, m.n - 1) as place, m.n, m.given, m.is_object, m.o,
               :"schema"._is_castable(m.o ->> 'due_at', 'timestamptz') as due_ok,
               :"schema"._is_castable(m.o ->> 'ttl', 'interval') as ttl_ok,
               :"schema"._is_castable(m.o ->> 'message_id', 'uuid') as id_ok,
               :"schema"._is_castable(m.o ->> 'join_id', 'uuid') as join_ok,
               :"schema"._is_castable(m.o ->> 'max_attempts', 'int') as attempts_ok
        from (select e.n, e.o as given, jsonb_typeof(e.o) = 'object' as is_object,
                     case when jsonb_typeof(e.o) <> 'object' then '{}' when p_box = 0 then e.o
                          else e.o - '{message_id,key,join_id}'::text[] end as o
              from jsonb_array_elements(messages) with ordinality e(o, n)
              where (:"schema"._read_messages(jsonb_build_array(e.o), p_box)).is_usual is not true offset 0) m)
    select z.argument, z.problem from (
    select s.n, f.nr, s.place || f.field as argument, f.problem
    from unusual s cross join lateral (values
        (-7, '.source', 'is empty: give 1 to :source_max characters', coalesce(s.o ->> 'source', '') = ''),
        (-6, '.source', 'is longer than :source_max characters', char_length(s.o ->> 'source') > :source_max),
        (-5, '.id', 'is empty: give 1 to :external_id_max characters', coalesce(s.o ->> 'id', '') = ''),
        (-4, '.id', 'is longer than :external_id_max characters', char_length(s.o ->> 'id') > :external_id_max),
        (-3, '.content_hash', 'is longer than :content_hash_max characters',
            char_length(s.o ->> 'content_hash') > :content_hash_max))
        f(nr, field, problem, is_wrong)
    where p_box = 1 and s.is_object and f.is_wrong
    union all
    select s.n, -2, format('%s.%s', s.place, k), 'must be a text' from unusual s, jsonb_object_keys(s.o) k
    where p_box = 1 and k in ('source', 'id', 'content_hash') and jsonb_typeof(s.o -> k) not in ('string', 'null')
    union all
    select s.n, -1, format('%s.%s', s.place, k), 'is not a known name here: ' || case k
               when 'join_id' then 'attach the message id to the join' else 'the key stands for it' end
    from unusual s, jsonb_object_keys(case when s.is_object then s.given else '{}' end) k
    where p_box = 1 and k in ('message_id', 'key', 'join_id')
    union all
    select s.n, f.nr, s.place || f.field as argument, f.problem
    from unusual s cross join lateral (values
        (1, '', 'must be an object', not s.is_object),
        (2, '.topic', 'is empty: give 1 to :topic_max characters', s.is_object and coalesce(s.o ->> 'topic', '') = ''),
        (3, '.topic', 'is longer than :topic_max characters', char_length(s.o ->> 'topic') > :topic_max),
        (4, '.payload', 'is null: give a text, empty if there is nothing to say',
            s.is_object and s.o ->> 'payload' is null),
        (5, '.correlation_id', 'is longer than :correlation_id_max characters',
            char_length(s.o ->> 'correlation_id') > :correlation_id_max),
        (6, '.stream', 'is longer than :stream_max characters', char_length(s.o ->> 'stream') > :stream_max),
        (7, '.due_at', :"schema"._malformed('due_at'), not s.due_ok),
        (8, '.due_at', 'is out of range: give a time from 1970 to 9999',
            case when s.due_ok then not ((s.o ->> 'due_at')::timestamptz >= '1970-01-01Z'
                                         and (s.o ->> 'due_at')::timestamptz < '10000-01-01Z') end),
        (9, '.ttl', :"schema"._malformed('ttl'), not s.ttl_ok),
        (10, '.ttl', 'is out of range: give more than 0 and at most :delay_days_max days',
            case when s.ttl_ok then (s.o ->> 'ttl')::interval <= interval '0'
                                    or (s.o ->> 'ttl')::interval > interval ':delay_days_max days' end),
        (11, '.message_id', :"schema"._malformed('message_id'), not s.id_ok),
        (12, '.message_id', 'is the nil UUID',
            case when s.id_ok then (s.o ->> 'message_id')::uuid = '00000000-0000-0000-0000-000000000000' end),
        (13, '.key', 'cannot go together with message_id', s.o ->> 'key' is not null and s.o ->> 'message_id' is not null),
        (14, '.key', 'must have 1 to :key_max characters', char_length(s.o ->> 'key') not between 1 and :key_max),
        (15, '.max_attempts', :"schema"._malformed('max_attempts'), not s.attempts_ok),
        (16, '.max_attempts', 'is out of range: give 1 to :max_attempts_max',
            case when s.attempts_ok then (s.o ->> 'max_attempts')::int not between 1 and :max_attempts_max end),
        (17, '.headers', 'must be a JSON object whose values are strings',
            case jsonb_typeof(s.o -> 'headers')
                when 'object' then exists (select from jsonb_each(s.o -> 'headers') h where jsonb_typeof(h.value) <> 'string')
                when 'null' then false else s.o ? 'headers' end),
        (18, '.join_id', :"schema"._malformed('join_id'), not s.join_ok),
        (19, '.join_id', 'is the nil UUID',
            case when s.join_ok then (s.o ->> 'join_id')::uuid = '00000000-0000-0000-0000-000000000000' end),
        (20, '.unique', :"schema"._malformed('unique'), jsonb_typeof(s.o -> 'unique') not in ('boolean', 'null')),
        (21, '.unique', 'needs a key', s.o -> 'unique' = 'true' and s.o ->> 'key' is null),
        (22, '.causation_id', 'is longer than :causation_id_max characters', char_length(s.o ->> 'causation_id') > :causation_id_max),
        (23, '.stream', 'is the nil UUID', s.o ->> 'stream' = '00000000-0000-0000-0000-000000000000'),
        (24, '.is_event', :"schema"._malformed('is_event'), jsonb_typeof(s.o -> 'is_event') not in ('boolean', 'null')),
        (25, '.is_event', 'needs a stream: the event is stored as its next version',
            s.o -> 'is_event' = 'true' and coalesce(s.o ->> 'stream', '') = ''),
        (26, '.event_type', 'must have 1 to :event_type_max characters',
            char_length(s.o ->> 'event_type') not between 1 and :event_type_max),
        (27, '.event_type', 'needs a stream: the event is stored as its next version',
            s.o ->> 'event_type' is not null and s.o -> 'is_event' is distinct from 'true' and coalesce(s.o ->> 'stream', '') = ''),
        (28, '.event_type', 'cannot go together with is_event false',
            s.o ->> 'event_type' is not null and s.o -> 'is_event' = 'false'),
        (29, '.metadata', 'must be a JSON object', jsonb_typeof(s.o -> 'metadata') not in ('object', 'null')))
        f(nr, field, problem, is_wrong)
    where f.is_wrong
    union all
    select s.n, 30, s.place || v.field, format('has %s bytes, more than the %s that the setting %s allows', v.size, m.most, v.name)
    from unusual s cross join lateral (values   -- with the least that each setting can be
        ('.payload', octet_length(s.o ->> 'payload'), 'payload_bytes_max', :payload_always, 67108864),
        ('.headers', octet_length(s.o ->> 'headers'), 'headers_bytes_max', :headers_always, 65536),
        ('.metadata', octet_length(s.o ->> 'metadata'), 'headers_bytes_max', :headers_always, 65536)) v(field, size, name, least, fallback)
    cross join lateral (select :"schema"._setting(v.name, v.fallback)::bigint as most where v.size > v.least) m
    where v.size > m.most
    union all
    select s.n, 98, format('%s.%s', s.place, k), 'must be a text'
    from unusual s, jsonb_object_keys(s.o) k
    where k in ('topic', 'correlation_id', 'causation_id', 'stream', 'key', 'event_type') and jsonb_typeof(s.o -> k) not in ('string', 'null')
    union all
    select s.n, 99, format('%s.%s', s.place, k), 'is not a known name'
    from unusual s, jsonb_object_keys(s.o) k
    where k not in ('topic', 'payload', 'correlation_id', 'due_at', 'ttl', 'stream', 'headers', 'message_id', 'key',
                    'max_attempts', 'join_id', 'unique', 'causation_id', 'metadata', 'is_event', 'event_type')
      and not (p_box = 1 and k in ('source', 'id', 'content_hash'))) z
    order by z.nr > 0, z.n, z.nr, z.argument;
end $$;
