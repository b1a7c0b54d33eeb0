-- Stores one message from outside: the work of _inbox_enqueue, without arrays. The library calls it. Functions that
-- name the fault get what is unusual. p_alone: see _inbox_put.
create or replace function :"schema"._inbox_enqueue_one(
    p_id uuid, p_topic text, p_payload text, p_correlation text, p_stream text, p_headers text, p_due timestamptz,
    p_delay interval, p_ttl interval, p_attempts int, p_source text, p_external_id text, p_hash text, p_alone boolean,
    p_causation text default null, p_event_type text default null, p_metadata text default null)
returns :"schema".inbox_enqueue_result language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    parsed jsonb;
    metadata jsonb;
begin
    if p_headers is not null then
        parsed := (:"schema"._read_json('headers', array[p_headers]))[1];
    end if;
    if p_metadata is not null then
        metadata := (:"schema"._read_json('metadata', array[p_metadata]))[1];
    end if;
    if (p_id <> '00000000-0000-0000-0000-000000000000' and char_length(p_topic) between 1 and :topic_max
        and octet_length(p_payload) <= :payload_always
        and char_length(p_source) between 1 and :source_max and char_length(p_external_id) between 1 and :external_id_max
        and coalesce(char_length(p_hash) <= :content_hash_max, true)
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
        and (parsed is null or octet_length(p_headers) <= :headers_always
             and not parsed @? 'strict $.* ? (@.type() <> "string")')) is not true then
        perform :"schema"._refuse_key(p_source, p_external_id, p_hash, p_id);
        if p_delay < '0' or p_delay > ':delay_days_max days' then
            perform :"schema"._invalid('delay', 'is out of range: give 0 to :delay_days_max days');
        end if;
        perform :"schema"._refuse_message(1::smallint, p_id, p_topic, p_payload, p_stream, p_correlation, parsed, p_due, null,
                                          null, p_attempts, p_causation, metadata, p_event_type);
        perform :"schema"._check_message('', p_topic, p_payload, p_correlation, p_due, p_ttl, p_stream, parsed, null, null,
                                         p_attempts, null);
    end if;
    return :"schema"._inbox_put(
        p_id, p_topic, p_payload, p_correlation, p_stream, parsed,
        case when p_due is null and p_delay > '0' then ts + p_delay else p_due end, p_ttl, p_attempts,
        p_source, p_external_id, p_hash, ts, p_alone, p_causation, p_event_type, metadata);
end $$;
