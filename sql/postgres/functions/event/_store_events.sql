-- Stores messages that are events, each with the next version of its stream (BX-067): arrays that go together by
-- position, null in types where a message is no event. The message id is the event id. An id that its stream has
-- already is passed over: the message was removed and enqueued again. The caller has stored the messages, and called
-- _hold_event_streams before that.
create or replace function :"schema"._store_events(
    ids uuid[], types text[], streams text[], payloads text[], correlations text[], causations text[], headers jsonb[],
    ts timestamptz)
returns void language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    elsewhere text;
    wanted bigint;
    stored bigint;
begin
    select min(i.id::text) filter (where e.stream <> i.stream), count(*) filter (where e.stream is null)
    into elsewhere, wanted
    from unnest(ids, types, streams) i(id, type, stream)
    left join lateral (select e.stream from :"schema".event_row e where e.event_id = i.id limit 1) e on true
    where i.type is not null;
    if elsewhere is not null then
        perform :"schema"._event_elsewhere(elsewhere);
    end if;
    if wanted = 0 then
        return;
    end if;
    insert into :"schema".event_row (event_id, created_at, version, stream, type, correlation_id, causation_id, headers, payload)
    select i.id, ts, coalesce(l.version, 0) + row_number() over (partition by i.stream order by i.n), i.stream, i.type,
           i.correlation, i.causation, i.header, i.payload
    from unnest(ids, types, streams, payloads, correlations, causations, headers) with ordinality
        i(id, type, stream, payload, correlation, causation, header, n)
    left join lateral (
        select e.version from :"schema".event_row e where e.stream = i.stream order by e.version desc limit 1) l on true
    where i.type is not null
      and not exists (select from :"schema".event_row e where e.event_id = i.id)
    order by i.n
    on conflict do nothing;
    get diagnostics stored = row_count;
    if stored < wanted then   -- another transaction appended it to its stream meanwhile
        perform :"schema"._event_elsewhere(null);
    end if;
end $$;
