-- Stores one message from outside, or answers from what is known of its key. Everything has been checked. A key that is
-- new or has a message takes one statement; for one that was only seen, this calls _inbox_enqueue. Without settings of
-- its own: called by functions that have them. p_alone: the caller's transaction does nothing else.
create or replace function :"schema"._inbox_put(
    p_id uuid, p_topic text, p_payload text, p_correlation text, p_stream text, p_headers jsonb, p_due timestamptz,
    p_ttl interval, p_attempts int, p_source text, p_external_id text, p_hash text, ts timestamptz, p_alone boolean,
    p_causation text default null, p_event_type text default null, p_metadata jsonb default null)
returns :"schema".inbox_enqueue_result language plpgsql volatile as $$
#variable_conflict use_column
declare
    flag bigint;
    is_new boolean;
    known_hash text;
    result :"schema".inbox_enqueue_result;
begin
    -- As in _note_keys: a key that was only seen is locked and not changed, and the time when it was seen last is exact
    -- to a second.
    insert into :"schema".inbox_key as k (source, external_id, message_id, state, first_seen_at, last_seen_at, seen_count,
                                     content_hash)
    values (p_source, p_external_id, p_id, 1, ts, ts, 1, p_hash)
    on conflict (source, external_id) do update
        set last_seen_at = case when excluded.last_seen_at >= k.last_seen_at + interval '1 second' then excluded.last_seen_at
                                else k.last_seen_at end,
            seen_count = k.seen_count + 1,
            content_hash = coalesce(k.content_hash, excluded.content_hash)
        where k.state <> 0
    returning k.seen_count = 1, k.content_hash into is_new, known_hash;
    if is_new is null then
        select r.* into result from :"schema"._inbox_enqueue(
            array[p_id], array[p_topic], array[p_payload], array[p_correlation], array[p_stream], array[p_headers::text],
            array[p_due], null, array[ceil(extract(epoch from p_ttl) * 1000)::bigint], array[p_attempts],
            array[p_source], array[p_external_id], array[p_hash], array[p_causation],
            case when p_event_type is not null then array[p_event_type] end,
            case when p_metadata is not null then array[p_metadata::text] end) r;
        return result;
    end if;
    result.message_id := p_id;
    result.duplicate := not is_new;
    result.hash_mismatch := coalesce(p_hash <> known_hash, false);
    if not is_new then
        select case m.box when 1 then m.work_id end into result.work_id
        from :"schema".message m where m.message_id = p_id limit 1;
        if p_alone and p_hash is null then   -- nothing but a sighting, which a crash may forget
            perform set_config('synchronous_commit', 'off', true);
        end if;
        return result;
    end if;
    if p_event_type is not null then
        perform :"schema"._hold_event_streams(array[p_stream]);
    end if;
    if p_stream is not null then
        perform pg_current_xact_id();   -- before the work id is drawn: see _come_past_streams
    end if;
    insert into :"schema".message as m (message_id, box, lane, max_attempts, created_at, due_at, expires_at, topic, payload,
                                   stream, correlation_id, headers, source, external_id, causation_id, event_type, metadata)
    values (p_id, 1, (p_stream is not null)::int, p_attempts, ts, p_due, ts + p_ttl, p_topic, p_payload,
            p_stream, p_correlation, p_headers, p_source, p_external_id, p_causation, p_event_type, p_metadata)
    on conflict (message_id) do nothing
    returning m.work_id into result.work_id;
    if result.work_id is null then
        perform :"schema"._inbox_taken(p_id);
    end if;
    if p_event_type is not null then
        perform :"schema"._store_events(array[p_id], array[p_event_type], array[p_stream], array[p_payload],
                                   array[p_correlation], array[p_causation], array[p_headers], ts);
    end if;
    if p_stream is not null then
        perform :"schema"._end_quiet(1::smallint);
    end if;
    flag := pg_sequence_last_value(':"schema".sleeper_flag');
    if flag >> 32 > date_part('epoch', ts)::bigint - 1577836800 and coalesce(p_due <= ts, true)
       and flag & ((1::bigint << (hashtext(p_topic) & 15)) | (65536::bigint << (ascii(p_topic) & 15))) <> 0 then
        perform :"schema"._wake_topic(1::smallint, p_topic);   -- as in _enqueue_plain
    end if;
    if pg_sequence_last_value(':"schema".awaited_flag') is not null then   -- as in _enqueue_one
        perform :"schema"._resolve_members(array[p_id], array[result.work_id]);
    end if;
    return result;
end $$;
