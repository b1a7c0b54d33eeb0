-- As _read_messages, for an array of objects with the names of inbox_enqueue's arguments.
create or replace function :"schema"._read_inbox_messages(
    messages jsonb, out ids uuid[], out topics text[], out payloads text[], out correlations text[], out streams text[],
    out headers text[], out dues timestamptz[], out ttls bigint[], out attempts int[], out sources text[],
    out external_ids text[], out hashes text[], out is_usual boolean)
language plpgsql volatile as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
begin
    select array_agg(:"schema"._hash_id('boxcar:inbox:', char_length(r.source) || ':' || r.source || r.id)),   -- as _inbox_id
           array_agg(r.topic), array_agg(r.payload),
           case when count(nullif(r.correlation_id, '')) > 0 then array_agg(nullif(r.correlation_id, '')) end,
           case when count(nullif(r.stream, '')) > 0 then array_agg(nullif(r.stream, '')) end,
           case when count(r.headers) > 0 then array_agg(r.headers::text) end,
           case when count(r.due_at) > 0 then array_agg(r.due_at) end,
           case when count(r.ttl) > 0 then array_agg(ceil(extract(epoch from ts + r.ttl - ts) * 1000)::bigint) end,
           case when count(r.max_attempts) > 0 then array_agg(r.max_attempts) end,
           array_agg(r.source), array_agg(r.id),
           case when count(nullif(r.content_hash, '')) > 0 then array_agg(nullif(r.content_hash, '')) end,
           bool_and((m.o - '{source,id,content_hash,topic,payload,correlation_id,due_at,ttl,stream,headers,max_attempts}'
                       ::text[] = '{}'
                     and jsonb_typeof(m.o -> 'source') = 'string' and char_length(r.source) between 1 and 255
                     and jsonb_typeof(m.o -> 'id') = 'string' and char_length(r.id) between 1 and 255
                     and (r.content_hash is null or jsonb_typeof(m.o -> 'content_hash') = 'string'
                                                    and char_length(r.content_hash) <= 255)
                     and jsonb_typeof(m.o -> 'topic') = 'string' and char_length(r.topic) between 1 and 255
                     and octet_length(r.payload) <= 65536
                     and (r.correlation_id is null or jsonb_typeof(m.o -> 'correlation_id') = 'string'
                                                      and char_length(r.correlation_id) <= 255)
                     and (r.stream is null or jsonb_typeof(m.o -> 'stream') = 'string' and char_length(r.stream) <= 255)
                     and coalesce(r.due_at between '1970-01-01Z' and '9999-12-31Z', true)
                     and coalesce(r.ttl > '0' and r.ttl <= '3650 days', true)
                     and coalesce(r.max_attempts between 1 and 1000000, true)
                     and (r.headers is null or pg_column_size(r.headers) <= 680
                          and not r.headers @? 'strict $.* ? (@.type() <> "string")')) is true)
    into ids, topics, payloads, correlations, streams, headers, dues, ttls, attempts, sources, external_ids, hashes, is_usual
    from jsonb_array_elements(messages) m(o)
    cross join lateral jsonb_to_record(m.o) r(
        source text, id text, content_hash text, topic text, payload text, correlation_id text, due_at timestamptz,
        ttl interval, stream text, headers jsonb, max_attempts int);
exception when data_exception then
    is_usual := false;
end $$;
