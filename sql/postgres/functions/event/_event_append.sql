-- Appends events to a stream, from arrays that go together by position: all of them or none. The library has checked
-- them; those of other callers are looked at once more (_refuse_event). p_expected: the version that the stream must
-- have, null = any. If the stream already has an id, the event is not appended again, and the answer has its version.
-- If that is so for all of them, nothing is expected of the stream: the call repeats one whose answer was lost. An
-- event with a topic is also enqueued as a message, under its own id. If another message has that id already, the call
-- fails: it would be taken for the event's.
--
-- Writers of a stream take turns by its row. Everything else is looked at after that, in statements of their own, which
-- see what the last writer committed. Under a stricter isolation, ON CONFLICT refuses what an old snapshot did not
-- show.
create or replace function :"schema"._event_append(
    p_stream text, p_expected bigint, ids uuid[], types text[], payloads text[], correlations text[],
    headers text[], topics text[], causations text[] default null)
returns setof :"schema".event_append_result language plpgsql volatile security definer rows 1000 :hot as $$
#variable_conflict use_column
declare
    ts timestamptz;
    last_version bigint;
    results :"schema".event_append_result[];
    wanted bigint;
    stored bigint;
    elsewhere text;
    taken text;
    parsed jsonb[];   -- the headers
begin
    perform :"schema"._check_append(p_stream, p_expected);
    if headers is not null then
        parsed := :"schema"._read_json('headers', headers);
    end if;
    perform from :"schema".event_stream s where s.stream = p_stream for no key update;
    if not found then
        insert into :"schema".event_stream (stream) values (p_stream) on conflict (stream) do nothing;
        perform from :"schema".event_stream s where s.stream = p_stream for no key update;
    end if;
    ts := clock_timestamp();
    last_version := coalesce((select e.version from :"schema".event_row e where e.stream = p_stream
                              order by e.version desc limit 1), 0);
    select array_agg((y.id, coalesce(y.known, y.first_version), y.known is not null or y.repeated)
                     :::"schema".event_append_result order by y.n),
           count(*) filter (where y.known is null and not y.repeated),
           min(y.id::text) filter (where y.stream <> p_stream)
    into results, wanted, elsewhere
    from (select x.*, min(x.version) over (partition by x.id) as first_version
          from (select i.id, i.n, i.repeated, e.version as known, e.stream,
                       last_version + sum((e.version is null and not i.repeated)::int) over (order by i.n) as version
                from (select u.id, u.n, row_number() over (partition by u.id order by u.n) > 1 as repeated
                      from unnest(ids) with ordinality u(id, n)) i
                left join lateral (select e.version, e.stream from :"schema".event_row e
                                   where e.event_id = i.id limit 1) e on true) x) y;
    if elsewhere is not null then
        perform :"schema"._event_elsewhere(elsewhere);
    end if;
    if wanted > 0 and last_version <> p_expected then
        raise exception using errcode = 'BX003', column = 'expected_version',
            message = format('the stream has version %s, expected was %s', last_version, p_expected),
            hint = 'Read what was appended meanwhile and decide again.';
    end if;
    if wanted > 0 then
        insert into :"schema".event_row (event_id, created_at, version, stream, type, correlation_id, causation_id, headers, payload)
        select i.event_id, ts, i.version, p_stream, i.type, i.correlation, i.causation, i.parsed, i.payload
        from rows from (unnest(results), unnest(types), unnest(correlations), unnest(causations), unnest(headers), unnest(parsed),
                        unnest(payloads))
            with ordinality i(event_id, version, duplicate, type, correlation, causation, header, parsed, payload, n)
        where not i.duplicate
          and case when i.event_id <> '00000000-0000-0000-0000-000000000000' and char_length(i.type) between 1 and :event_type_max
                        and octet_length(i.payload) <= :payload_always and coalesce(char_length(i.correlation) <= :correlation_id_max, true)
                        and coalesce(char_length(i.causation) <= :causation_id_max, true)
                        and (i.header is null or octet_length(i.header) <= :headers_always
                             and not i.parsed @? 'strict $.* ? (@.type() <> "string")') then true
              else :"schema"._refuse_event(i.event_id, i.type, i.payload, i.correlation, i.parsed, i.causation) end
        order by i.n
        on conflict do nothing;
        get diagnostics stored = row_count;
        if stored < wanted then   -- another transaction appended it to its stream meanwhile
            perform :"schema"._event_elsewhere(null);
        end if;
    end if;
    if wanted > 0 and topics is not null then
        select min(q.message_id::text) filter (where q.duplicate) into taken from (
            select array_agg(i.event_id order by i.n) as ids, array_agg(i.topic order by i.n) as topics,
                   array_agg(i.payload order by i.n) as payloads, array_agg(i.correlation order by i.n) as correlations,
                   array_agg(p_stream) as streams, array_agg(i.header order by i.n) as headers,
                   array_agg(i.causation order by i.n) as causations, array_agg(i.type order by i.n) as types
            from rows from (unnest(results), unnest(topics), unnest(correlations), unnest(causations), unnest(headers),
                            unnest(payloads), unnest(types))
                with ordinality i(event_id, version, duplicate, topic, correlation, causation, header, payload, type, n)
            where not i.duplicate and i.topic is not null) m,
        lateral :"schema"._enqueue_messages(0::smallint, m.ids, m.topics, m.payloads, m.correlations, m.streams, m.headers,
                                   null, null, null, null, false, causations => m.causations, event_types => m.types,
                                   are_events_stored => true) q
        where m.ids is not null;
        if taken is not null then
            raise exception using errcode = 'BX003', column = 'event_id',
                message = format('the event id %s is the id of a message that was enqueued by itself', taken),
                hint = 'Give the event an id of its own, or append it without a topic.';
        end if;
    end if;
    return query select * from unnest(results);
end $$;
