-- Stores messages from outside whose key is new or was only seen; for the others the answer comes from what is there.
-- Arrays go together by position, as in _enqueue_messages, and were checked before. One row for each, in order.
--
-- Most keys are new: one statement writes them, in their order, and waits for keys that an open transaction has written
-- or changed. If it wrote them all, the messages are stored as they stand. Keys that it met, and those that come twice,
-- are noted afterwards (_note_keys), again in their order. No wait is circular: a call that waits in the first
-- statement holds only new keys, and calls in the second have passed these or waited for them.
create or replace function :"schema"._inbox_enqueue(
    ids uuid[], topics text[], payloads text[], correlations text[], streams text[], headers text[],
    dues timestamptz[], delays bigint[], ttls bigint[], attempts int[],
    sources text[], external_ids text[], hashes text[], causations text[] default null, event_types text[] default null,
    metadata text[] default null)
returns setof :"schema".inbox_enqueue_result language plpgsql volatile security definer rows 1000 :hot
set enable_hashjoin = on as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    fresh uuid[];   -- the messages whose keys are new
    known record;
    news record;
    work_ids bigint[];
begin
    with written as (
        insert into :"schema".inbox_key as k (source, external_id, message_id, state, first_seen_at, last_seen_at,
                                         seen_count, content_hash)
        select s.source, s.external_id, s.id, 1, ts, ts, 1, s.hash
        from unnest(sources, external_ids, hashes, ids) with ordinality s(source, external_id, hash, id, n)
        where case when char_length(s.source) between 1 and :source_max and char_length(s.external_id) between 1 and :external_id_max
                        and coalesce(char_length(s.hash) <= :content_hash_max, true)
                        and s.id <> '00000000-0000-0000-0000-000000000000' then true
              else :"schema"._refuse_key(s.source, s.external_id, s.hash, s.id) end
        order by s.source collate "C", s.external_id collate "C", s.n
        on conflict (source, external_id) do nothing
        returning k.message_id)
    select array_agg(w.message_id) into fresh from written w;
    if cardinality(fresh) = cardinality(ids) then   -- as they stand
        work_ids := :"schema"._inbox_store(ids, topics, payloads, correlations, streams, headers, dues, delays, ttls,
                                      attempts, sources, external_ids, causations, event_types, metadata);
        return query select i.work_id, i.id, false, false from unnest(ids, work_ids) i(id, work_id);
        return;
    end if;
    select array_agg(k.message_id) as ids, array_agg(k.is_ours) as ours, array_agg(k.content_hash) as hashes
    into known from (
        select array_agg(i.source order by i.n) as sources, array_agg(i.external_id order by i.n) as external_ids,
               array_agg(i.hash order by i.n) as hashes, array_agg(i.id order by i.n) as ids
        from (select i.*, row_number() over (partition by i.id order by i.n) as turn
              from unnest(sources, external_ids, hashes, ids) with ordinality i(source, external_id, hash, id, n)) i
        left join unnest(fresh) w(id) on w.id = i.id
        where w.id is null or i.turn > 1) r
    cross join lateral :"schema"._note_keys(r.sources, r.external_ids, r.hashes, r.ids, 1::smallint) k
    where r.ids is not null;
    -- The first message of each key that this call has taken.
    if fresh is not null or true = any (known.ours) then
        select array_agg(i.n order by i.n) as ns, array_agg(i.id order by i.n) as ids,
               array_agg(i.topic order by i.n) as topics, array_agg(i.payload order by i.n) as payloads,
               array_agg(i.correlation order by i.n) as correlations, array_agg(i.stream order by i.n) as streams,
               array_agg(i.header order by i.n) as headers, array_agg(i.due order by i.n) as dues,
               array_agg(i.delay order by i.n) as delays, array_agg(i.ttl order by i.n) as ttls,
               array_agg(i.attempt order by i.n) as attempts, array_agg(i.source order by i.n) as sources,
               array_agg(i.external_id order by i.n) as external_ids, array_agg(i.causation order by i.n) as causations,
               case when event_types is not null then array_agg(i.event_type order by i.n) end as event_types,
               case when _inbox_enqueue.metadata is not null then array_agg(i.metadata order by i.n) end as metadata
        into news from (
            select i.*, row_number() over (partition by i.id order by i.n) as turn
            from unnest(ids, topics, payloads, correlations, streams, headers, dues, delays, ttls, attempts, sources,
                        external_ids, causations, event_types, metadata)
                with ordinality i(id, topic, payload, correlation, stream, header, due, delay, ttl, attempt, source,
                                  external_id, causation, event_type, metadata, n)
            left join unnest(fresh) w(id) on w.id = i.id
            left join unnest(known.ids, known.ours) k(id, is_ours) on k.id = i.id
            where w.id is not null or k.is_ours) i
        where i.turn = 1;
        work_ids := :"schema"._inbox_store(news.ids, news.topics, news.payloads, news.correlations, news.streams,
                                      news.headers, news.dues, news.delays, news.ttls, news.attempts, news.sources,
                                      news.external_ids, news.causations, news.event_types, news.metadata);
    else
        select null::uuid[] as ids, null::bigint[] as ns into news;
    end if;
    return query
        select coalesce(w.work_id, case m.box when 1 then m.work_id end), i.id, w.n is distinct from i.n,
               coalesce(i.hash <> k.hash, false)
        from unnest(ids, hashes) with ordinality i(id, hash, n)
        left join unnest(known.ids, known.hashes) k(id, hash) on k.id = i.id
        left join unnest(news.ids, work_ids, news.ns) w(id, work_id, n) on w.id = i.id
        left join lateral (
            select m.work_id, m.box from :"schema".message m where w.id is null and m.message_id = i.id limit 1) m on true
        order by i.n;
end $$;
