-- Enqueues one message with everything that a message can have: the work of _enqueue_messages, without arrays.
-- p_is_fresh: the id was made in this very call and cannot exist. p_other: the id that programs of another version give
-- to the same key (see _enqueue_messages). p_unique: a key that is free again once its message has ended (see _take_keys).
create or replace function :"schema"._enqueue_one(
    p_id uuid, p_topic text, p_payload text, p_correlation text, p_stream text, p_headers text, p_due timestamptz,
    p_delay interval, p_ttl interval, p_attempts int, p_is_fresh boolean, p_join uuid, p_other uuid, p_unique uuid,
    p_causation text default null, p_event_type text default null, p_metadata text default null)
returns :"schema".enqueue_result language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    flag bigint := pg_sequence_last_value(':"schema".sleeper_flag');
    parsed jsonb;
    metadata jsonb;
    due timestamptz := p_due;
    result :"schema".enqueue_result;
begin
    if p_headers is not null then
        parsed := (:"schema"._read_json('headers', array[p_headers]))[1];
    end if;
    if p_metadata is not null then
        metadata := (:"schema"._read_json('metadata', array[p_metadata]))[1];
    end if;
    if (p_id <> '00000000-0000-0000-0000-000000000000' and char_length(p_topic) between 1 and :topic_max
        and octet_length(p_payload) <= :payload_always
        and coalesce(char_length(p_stream) between 1 and :stream_max and p_stream <> '00000000-0000-0000-0000-000000000000', true)
        and (num_nonnulls(p_causation, p_event_type, metadata) = 0
             or coalesce(char_length(p_causation) <= :causation_id_max, true)
                and coalesce(char_length(p_event_type) between 1 and :event_type_max and p_stream is not null, true)
                and coalesce(jsonb_typeof(metadata) = 'object' and pg_column_size(metadata) <= 680, true))
        and coalesce(char_length(p_correlation) <= :correlation_id_max, true)
        and coalesce(p_due between '1970-01-01Z' and '9999-12-31Z', true)
        and coalesce(p_delay between '0' and ':delay_days_max days', true)
        and coalesce(p_ttl > '0' and p_ttl <= ':delay_days_max days', true)
        and coalesce(p_attempts between 1 and :max_attempts_max, true)
        and coalesce(p_join <> '00000000-0000-0000-0000-000000000000', true)
        and p_is_fresh is not null
        and (parsed is null or octet_length(p_headers) <= :headers_always
             and not parsed @? 'strict $.* ? (@.type() <> "string")')) is not true then
        perform :"schema"._fault('', case
            when p_is_fresh is null then array['is_fresh', 'is null']
            when p_delay < '0' or p_delay > ':delay_days_max days'
                then array['delay', 'is out of range: give 0 to :delay_days_max days'] end);
        perform :"schema"._refuse_message(0::smallint, p_id, p_topic, p_payload, p_stream, p_correlation, parsed, p_due, null,
                                          null, p_attempts, p_causation, metadata, p_event_type);
        perform :"schema"._check_message('', p_topic, p_payload, p_correlation, p_due, p_ttl, p_stream, parsed, null, null,
                                         p_attempts, p_join);
    end if;
    if p_delay > '0' and due is null then
        due := ts + p_delay;
    end if;
    result.message_id := p_id;
    if not p_is_fresh and p_other is null and p_unique is null and :"schema"._is_derived(p_id) then
        perform :"schema"._note_old_keys(array[p_id]);
    end if;
    if p_other is not null and pg_sequence_last_value(':"schema".old_key_flag') is not null then
        -- A message that is there already under its other id counts as a duplicate under that id.
        select m.message_id into result.message_id from :"schema".message m
        where m.message_id = p_other and m.topic = p_topic collate "C" limit 1;
        result.message_id := coalesce(result.message_id, p_id);
    end if;
    if p_unique is not null then
        result.message_id := (:"schema"._take_keys(array[p_unique], array[result.message_id]))[1];
    end if;
    if p_event_type is not null then
        perform :"schema"._hold_event_streams(array[p_stream]);
    end if;
    if p_stream is not null then
        perform pg_current_xact_id();   -- before the work id is drawn: see _come_past_streams
    end if;
    if p_is_fresh and p_other is null and p_unique is null then
        insert into :"schema".message as m (message_id, box, lane, max_attempts, created_at, due_at, expires_at,
                                       topic, payload, stream, correlation_id, headers, causation_id, event_type, metadata)
        values (p_id, 0, (p_stream is not null)::int, p_attempts, ts, due, ts + p_ttl,
                p_topic, p_payload, p_stream, p_correlation, parsed, p_causation, p_event_type, metadata)
        returning m.work_id into result.work_id;
    else
        insert into :"schema".message as m (message_id, box, lane, max_attempts, created_at, due_at, expires_at,
                                       topic, payload, stream, correlation_id, headers, unique_key, causation_id, event_type,
                                       metadata)
        values (result.message_id, 0, (p_stream is not null)::int, p_attempts, ts, due, ts + p_ttl,
                p_topic, p_payload, p_stream, p_correlation, parsed, p_unique, p_causation, p_event_type, metadata)
        on conflict (message_id) do nothing
        returning m.work_id into result.work_id;
    end if;
    if p_stream is not null then
        perform :"schema"._end_quiet(0::smallint);
    end if;
    result.duplicate := result.work_id is null;
    if p_event_type is not null and not result.duplicate then
        perform :"schema"._store_events(array[result.message_id], array[p_event_type], array[p_stream], array[p_payload],
                                   array[p_correlation], array[p_causation], array[parsed], ts);
    end if;
    if flag >> 32 > date_part('epoch', ts)::bigint - 1577836800 and coalesce(due <= ts, true)
       and flag & ((1::bigint << (hashtext(p_topic) & 15)) | (65536::bigint << (ascii(p_topic) & 15))) <> 0 then
        perform :"schema"._wake_topic(0::smallint, p_topic);   -- as in _enqueue_plain
    end if;
    if result.duplicate then
        -- This statement has a snapshot of its own: the existing message may have been committed only while this one
        -- waited for its transaction.
        select m.work_id into result.work_id from :"schema".message m where m.message_id = result.message_id limit 1;
    end if;
    -- It may have been attached to a join before it existed.
    if not p_is_fresh and pg_sequence_last_value(':"schema".awaited_flag') is not null then
        if exists (select from :"schema".join_member m where m.message_id = result.message_id and m.work_id is null) then
            perform :"schema"._resolve_members(array[result.message_id], array[result.work_id]);
        end if;
    end if;
    if p_join is not null and p_is_fresh and p_other is null and p_unique is null then
        perform :"schema"._attach_fresh(p_join, array[p_id], array[result.work_id], ts);
    elsif p_join is not null then
        perform :"schema"._attach_enqueued(array[p_join], array[result.message_id], array[result.work_id],
                                      array[result.duplicate], ts);
    end if;
    return result;
end $$;
