-- Reads an array of objects with the names of enqueue's arguments, or for the inbox with those of inbox_enqueue, into
-- arrays that go together by position, as _enqueue_messages and _inbox_enqueue want them. An array is null if no object
-- has a value for it. is_usual: nothing is wrong with any of them, by one condition each. If not, callers look at them
-- one by one to name the faults (_check_object, _message_faults). If something cannot be read at all, the result is
-- nulls. Messages with nothing but a topic and a payload are read first on trial, since reading all the names takes three
-- times as long.
create or replace function :"schema"._read_messages(
    messages jsonb, p_box smallint, out ids uuid[], out topics text[], out payloads text[], out correlations text[],
    out streams text[], out headers text[], out dues timestamptz[], out ttls bigint[], out attempts int[], out joins uuid[],
    out others uuid[], out uniques uuid[], out sources text[], out external_ids text[], out hashes text[],
    out is_fresh boolean, out is_usual boolean, out causations text[], out event_types text[], out metadata text[])
language plpgsql volatile as $$
#variable_conflict use_column
declare
    names constant text[] := '{topic,payload,correlation_id,due_at,ttl,stream,headers,max_attempts,causation_id,metadata,
                                is_event,event_type}'::text[]
        || case p_box when 0 then '{message_id,key,join_id,unique}'::text[] else '{source,id,content_hash}' end;
    plain constant text[] := '{topic,payload}'::text[];
    ts timestamptz := clock_timestamp();
    -- Ids as _new_message_id makes them, but with random bits that are counted on: drawing them takes longer than reading.
    seed bytea := uuid_send(:"schema"._new_message_id());
    head bytea := substring(seed for 8);
    tail bigint := ('x' || encode(substring(seed from 9), 'hex'))::bit(64)::bigint;
begin
    if p_box = 0 and (messages -> 0) - plain = '{}' then
        select array_agg(encode(head || int8send(tail + m.n), 'hex')::uuid), array_agg(m.topic), array_agg(m.payload),
               bool_and((m.o - plain = '{}' and jsonb_typeof(m.o -> 'topic') = 'string'
                         and char_length(m.topic) between 1 and :topic_max
                         and octet_length(m.payload) <= :payload_always) is true)
        into ids, topics, payloads, is_usual
        from (select e.n, e.o, e.o ->> 'topic' as topic, e.o ->> 'payload' as payload
              from jsonb_array_elements(messages) with ordinality e(o, n) offset 0) m;
        is_fresh := true;
        if is_usual then
            return;
        end if;
    end if;
    select array_agg(case when p_box = 1   -- as _inbox_id
                          then :"schema"._hash_id('boxcar:inbox:', char_length(r.source) || ':' || r.source || r.id)
                          when r.message_id is null and r.key is null or r."unique"
                               then encode(head || int8send(tail + m.n), 'hex')::uuid
                          when r.key is null then r.message_id
                          else :"schema"._hash_id('boxcar:topic-key:', k.id || r.topic) end),
           array_agg(r.topic), array_agg(r.payload),
           case when count(nullif(r.correlation_id, '')) > 0 then array_agg(nullif(r.correlation_id, '')) end,
           case when count(nullif(r.stream, '')) > 0 then array_agg(nullif(r.stream, '')) end,
           case when count(r.headers) > 0 then array_agg(r.headers::text) end,
           case when count(r.due_at) > 0 then array_agg(r.due_at) end,
           case when count(r.ttl) > 0 then array_agg(ceil(extract(epoch from ts + r.ttl - ts) * 1000)::bigint) end,
           case when count(r.max_attempts) > 0 then array_agg(r.max_attempts) end,
           case when count(r.join_id) > 0 then array_agg(r.join_id) end,
           case when count(r.key) filter (where r."unique" is not true) > 0
                then array_agg(case when r."unique" is not true then k.id end) end,
           case when bool_or(r."unique")
                then array_agg(case when r."unique" then :"schema"._hash_id('boxcar:topic-key:', k.id || r.topic) end) end,
           case when count(r.source) > 0 then array_agg(r.source) end, case when count(r.id) > 0 then array_agg(r.id) end,
           case when count(nullif(r.content_hash, '')) > 0 then array_agg(nullif(r.content_hash, '')) end,
           count(r.message_id) = 0 and count(r.key) = 0,
           bool_and((m.o - names = '{}'
                     and (p_box = 0 or jsonb_typeof(m.o -> 'source') = 'string' and char_length(r.source) between 1 and :source_max
                                       and jsonb_typeof(m.o -> 'id') = 'string' and char_length(r.id) between 1 and :external_id_max)
                     and (r.content_hash is null or jsonb_typeof(m.o -> 'content_hash') = 'string'
                                                    and char_length(r.content_hash) <= :content_hash_max)
                     and jsonb_typeof(m.o -> 'topic') = 'string' and char_length(r.topic) between 1 and :topic_max
                     and octet_length(r.payload) <= :payload_always
                     and (r.correlation_id is null or jsonb_typeof(m.o -> 'correlation_id') = 'string'
                                                      and char_length(r.correlation_id) <= :correlation_id_max)
                     and (r.stream is null or jsonb_typeof(m.o -> 'stream') = 'string' and char_length(r.stream) <= :stream_max
                                              and r.stream <> '00000000-0000-0000-0000-000000000000')
                     and (num_nonnulls(r.causation_id, r.metadata, r.is_event, r.event_type) = 0
                          or coalesce(jsonb_typeof(m.o -> 'causation_id') in ('string', 'null')
                                      and char_length(r.causation_id) <= :causation_id_max, true)
                             and coalesce(jsonb_typeof(m.o -> 'is_event') in ('boolean', 'null'), true)
                             and coalesce(jsonb_typeof(m.o -> 'event_type') in ('string', 'null')
                                          and char_length(r.event_type) between 1 and :event_type_max, true)
                             and coalesce(jsonb_typeof(r.metadata) = 'object' and pg_column_size(r.metadata) <= 680, true)
                             and not (coalesce(r.is_event, r.event_type is not null) and coalesce(r.stream, '') = '')
                             and not (r.is_event is false and r.event_type is not null))
                     and (r.key is null or r.message_id is null and jsonb_typeof(m.o -> 'key') = 'string'
                                           and char_length(r.key) between 1 and :key_max)
                     and coalesce(r.due_at between '1970-01-01Z' and '9999-12-31Z', true)
                     and coalesce(r.ttl > '0' and r.ttl <= ':delay_days_max days', true)
                     and coalesce(r.max_attempts between 1 and :max_attempts_max, true)
                     and coalesce(r.message_id <> '00000000-0000-0000-0000-000000000000', true)
                     and coalesce(r.join_id <> '00000000-0000-0000-0000-000000000000', true)
                     and (r."unique" is null or jsonb_typeof(m.o -> 'unique') = 'boolean'
                                                and not (r."unique" and r.key is null))
                     and (r.headers is null or pg_column_size(r.headers) <= 680
                          and not r.headers @? 'strict $.* ? (@.type() <> "string")')) is true),
           case when count(nullif(r.causation_id, '')) > 0 then array_agg(nullif(r.causation_id, '')) end,
           case when count(:"schema"._event_type(r.topic, r.stream, r.is_event, r.event_type)) > 0
                then array_agg(:"schema"._event_type(r.topic, r.stream, r.is_event, r.event_type)) end,
           case when count(r.metadata) > 0 then array_agg(r.metadata::text) end
    into ids, topics, payloads, correlations, streams, headers, dues, ttls, attempts, joins, others, uniques, sources,
         external_ids, hashes, is_fresh, is_usual, causations, event_types, metadata
    from jsonb_array_elements(messages) with ordinality m(o, n)
    cross join lateral jsonb_to_record(m.o) r(
        topic text, payload text, correlation_id text, due_at timestamptz, ttl interval, stream text, headers jsonb,
        message_id uuid, key text, max_attempts int, join_id uuid, "unique" boolean, source text, id text, content_hash text,
        causation_id text, metadata jsonb, is_event boolean, event_type text)
    cross join lateral (
        select case when r.key is not null then :"schema"._hash_id('boxcar:key:', r.key) end as id offset 0) k;
exception when data_exception then
    is_usual := false;
end $$;
