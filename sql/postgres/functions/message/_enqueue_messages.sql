-- Enqueues many messages from arrays that go together by position. The library has checked everything, but another
-- caller may not have: a cheap condition finds what is unusual (_refuse_message). Optional columns may be null as a
-- whole. This wakes sleepers that want one of the messages now. Hash joins are for the given and the stored messages,
-- which may be many; tables are looked up by their indexes.
--
-- delays and ttls: in milliseconds, 0 = none. fresh_ids: the ids were made in this very call and cannot exist. joins:
-- to attach each message to, null = none. sources and external_ids: where messages of the inbox come from. others: the
-- ids that programs of another version give to the same keys (see below). uniques: keys that are free again once
-- their message has ended (see _take_keys). event_types: of messages that are events of their streams, stored here with
-- the next version; are_events_stored: the caller has stored the events.
create or replace function :"schema"._enqueue_messages(
    p_box smallint, ids uuid[], topics text[], payloads text[], correlations text[], streams text[],
    headers text[], dues timestamptz[], delays bigint[], ttls bigint[], attempts int[], fresh_ids boolean,
    joins uuid[] default null, sources text[] default null, external_ids text[] default null,
    others uuid[] default null, uniques uuid[] default null, causations text[] default null,
    event_types text[] default null, metadata text[] default null, are_events_stored boolean default false)
returns setof :"schema".enqueue_result language plpgsql volatile security definer rows 1000 :hot
set enable_hashjoin = on as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    flag bigint := pg_sequence_last_value(':"schema".sleeper_flag');
    work_ids bigint[];
    stored_ids uuid[];
    duplicates boolean[];   -- null: none
    parsed jsonb[];   -- the headers
    parsed_metadata jsonb[];
    is_one_join boolean;   -- all go into the same join
begin
    -- Does a worker sleep, and until when (in seconds from 2020), and for such a topic (see _topic_bits)? First
    -- expressions without a query or a call; then a careful look.
    if flag is not null then
        if flag >> 32 > extract(epoch from ts)::bigint - 1577836800
           and (cardinality(topics) > 1 or flag & ((1::bigint << (hashtext(topics[1]) & 15))
                                                   | (65536::bigint << (ascii(topics[1]) & 15))) <> 0) then
            perform :"schema"._wake(p_box) where exists (
                select from :"schema".sleeper s where s.until > ts and s.box = p_box and exists (
                    select from unnest(topics, dues, delays) t(topic, due, delay)
                    where coalesce(t.due <= ts, true) and coalesce(t.delay, 0) = 0
                      and :"schema"._wanted(t.topic, s.exact, s.prefixes)));
        end if;
    end if;
    if (joins is not null or others is not null or uniques is not null)
       and (greatest(cardinality(joins), cardinality(others), cardinality(uniques)) > coalesce(cardinality(ids), 0)
            or array_ndims(ids) > 1 or array_position(ids, null) is not null) then
        perform :"schema"._invalid('message_id', 'is missing: each message with a key or a join needs one');
    end if;
    if not fresh_ids and p_box = 0 and pg_sequence_last_value(':"schema".old_key_flag') is null then
        perform :"schema"._note_old_keys(case when others is null and uniques is null then ids else array(
            select i.id from unnest(ids, others, uniques) i(id, other, unique_key)
            where i.other is null and i.unique_key is null) end);
    end if;
    -- A program of another version may have enqueued a message of the same topic under the other id of its key: then that
    -- id is used, and the message counts as a duplicate. This costs a look through the index for each key; messages
    -- without a key have no other id.
    if others is not null and pg_sequence_last_value(':"schema".old_key_flag') is not null then
        ids := array(
            select coalesce(m.message_id, i.id)
            from unnest(ids, others, topics) with ordinality i(id, other, topic, n)
            left join lateral (
                select m.message_id from :"schema".message m
                where m.message_id = i.other and m.topic = i.topic collate "C" limit 1) m on true
            order by i.n);
    end if;
    if uniques is not null then
        ids := :"schema"._take_keys(uniques, ids);
    end if;
    is_one_join := joins[1] is not null and cardinality(joins) = cardinality(ids) and array_remove(joins, joins[1]) = '{}';
    if fresh_ids and uniques is null and correlations is null and streams is null and headers is null and dues is null
       and delays is null and ttls is null and attempts is null and causations is null and metadata is null
       and event_types is null and (joins is null or is_one_join) then
        with stored as (
            insert into :"schema".message (message_id, box, lane, created_at, topic, payload)
            select i.id, p_box, 0, ts, i.topic, i.payload from unnest(ids, topics, payloads) i(id, topic, payload)
            where case when p_box in (0, 1) and i.id <> '00000000-0000-0000-0000-000000000000'
                            and char_length(i.topic) between 1 and :topic_max and octet_length(i.payload) <= :payload_always then true
                  else :"schema"._refuse_message(p_box, i.id, i.topic, i.payload, null, null, null, null, null, null, null) end
            returning work_id)
        select array_agg(w.work_id) into work_ids from stored w;
        if is_one_join then
            perform :"schema"._attach_fresh(joins[1], ids, work_ids, ts);
        end if;
        return query select i.work_id, i.id, false from unnest(work_ids, ids) i(work_id, id);
        return;
    end if;
    if headers is not null then
        parsed := :"schema"._read_json('headers', headers);
    end if;
    if metadata is not null then
        parsed_metadata := :"schema"._read_json('metadata', metadata);
    end if;
    if event_types is not null and not are_events_stored then
        perform :"schema"._hold_event_streams(array(
            select i.stream from unnest(event_types, streams) i(type, stream) where i.type is not null));
    end if;
    if streams is not null then
        perform pg_current_xact_id();   -- before work ids are drawn: see _come_past_streams
    end if;
    if sources is not null and num_nonnulls(correlations, streams, headers, dues, delays, ttls, attempts, joins, uniques,
                                            causations, metadata, event_types) = 0 then   -- as most of the inbox
        with stored as (
            insert into :"schema".message as m (message_id, box, lane, created_at, topic, payload, source, external_id)
            select i.id, p_box, 0, ts, i.topic, i.payload, i.source, i.external_id
            from unnest(ids, topics, payloads, sources, external_ids) i(id, topic, payload, source, external_id)
            where case when p_box in (0, 1) and i.id <> '00000000-0000-0000-0000-000000000000'
                            and char_length(i.topic) between 1 and :topic_max and octet_length(i.payload) <= :payload_always then true
                  else :"schema"._refuse_message(p_box, i.id, i.topic, i.payload, null, null, null, null, null, null, null) end
            on conflict (message_id) do nothing
            returning m.work_id, m.message_id)
        select coalesce(array_agg(w.work_id), '{}'), array_agg(w.message_id) into work_ids, stored_ids from stored w;
    else
        with stored as (
            insert into :"schema".message as m (message_id, box, lane, max_attempts, created_at, due_at, expires_at,
                                           topic, payload, stream, correlation_id, headers, source, external_id,
                                           unique_key, causation_id, event_type, metadata)
            select s.id, p_box, (s.stream is not null)::int, s.attempt, ts, s.due_at, s.expires_at,
                   s.topic, s.payload, s.stream, s.correlation, s.parsed, s.source, s.external_id,
                   s.unique_key, s.causation, s.event_type, s.metadata
            from (select i.*,
                         case when i.ttl between 1 and :delay_ms_max
                              then ts + make_interval(secs => i.ttl / 1000.0) end as expires_at,
                         coalesce(i.due, case when i.delay between 1 and :delay_ms_max
                                              then ts + make_interval(secs => i.delay / 1000.0) end) as due_at
                  from unnest(ids, topics, payloads, correlations, streams, headers, parsed, dues, delays, ttls, attempts,
                              sources, external_ids, uniques, causations, event_types, parsed_metadata)
                      i(id, topic, payload, correlation, stream, header, parsed, due, delay, ttl, attempt, source,
                        external_id, unique_key, causation, event_type, metadata)) s
            where case when p_box in (0, 1) and s.id <> '00000000-0000-0000-0000-000000000000'
                            and char_length(s.topic) between 1 and :topic_max and octet_length(s.payload) <= :payload_always
                            and coalesce(char_length(s.stream) between 1 and :stream_max
                                         and s.stream <> '00000000-0000-0000-0000-000000000000', true)
                            and coalesce(char_length(s.causation) <= :causation_id_max, true)
                            and (s.event_type is null
                                 or char_length(s.event_type) between 1 and :event_type_max and s.stream is not null)
                            and coalesce(jsonb_typeof(s.metadata) = 'object' and pg_column_size(s.metadata) <= 680, true)
                            and coalesce(char_length(s.correlation) <= :correlation_id_max, true)
                            and coalesce(s.due_at between '1970-01-01Z' and '9999-12-31Z', true)
                            and coalesce(s.delay between 0 and :delay_ms_max, true)
                            and coalesce(s.ttl between 0 and :delay_ms_max, true)
                            and coalesce(s.attempt between 1 and :max_attempts_max, true)
                            and (s.header is null or octet_length(s.header) <= :headers_always
                                 and not s.parsed @? 'strict $.* ? (@.type() <> "string")') then true
                  else :"schema"._refuse_message(p_box, s.id, s.topic, s.payload, s.stream, s.correlation, s.parsed,
                                            s.due_at, s.delay, s.ttl, s.attempt, s.causation, s.metadata, s.event_type) end
            on conflict (message_id) do nothing
            returning m.work_id, m.message_id)
        select coalesce(array_agg(w.work_id), '{}'), array_agg(w.message_id) into work_ids, stored_ids from stored w;
    end if;
    if streams is not null then
        perform :"schema"._end_quiet(p_box);
    end if;
    if event_types is not null and not are_events_stored and work_ids <> '{}' then   -- an id that comes twice is stored once
        perform :"schema"._store_events(
            ids, array(select case when i.turn = 1 and w.id is not null then i.type end
                       from (select u.*, row_number() over (partition by u.id order by u.n) as turn
                             from unnest(ids, event_types) with ordinality u(id, type, n)) i
                       left join unnest(stored_ids) w(id) on w.id = i.id order by i.n),
            streams, payloads, correlations, causations, parsed, ts);
    end if;
    if cardinality(work_ids) < cardinality(ids) then
        -- Some were there before, or come twice. This statement has a snapshot of its own: the existing message may
        -- have been committed only while this one waited for its transaction.
        select array_agg(coalesce(w.work_id, m.work_id) order by i.n), array_agg(w.id is null or i.turn > 1 order by i.n)
        into work_ids, duplicates
        from (select u.id, u.n, row_number() over (partition by u.id order by u.n) as turn
              from unnest(ids) with ordinality u(id, n)) i
        left join unnest(stored_ids, work_ids) w(id, work_id) on w.id = i.id
        left join lateral (
            select m.work_id from :"schema".message m where w.id is null and m.message_id = i.id limit 1) m on true;
    end if;
    if not fresh_ids and pg_sequence_last_value(':"schema".awaited_flag') is not null then
        perform :"schema"._resolve_members(ids, work_ids);
    end if;
    if fresh_ids and duplicates is null and is_one_join then
        perform :"schema"._attach_fresh(joins[1], ids, work_ids, ts);
    elsif joins is not null then
        perform :"schema"._attach_enqueued(
            joins, ids, work_ids, coalesce(duplicates, array_fill(false, array[cardinality(ids)])), ts);
    end if;
    return query
        select i.work_id, i.id, coalesce(i.duplicate, false)
        from unnest(work_ids, ids, duplicates) i(work_id, id, duplicate);
end $$;
