-- Stores messages from outside, those whose key is new or was only seen; the others are told from what is there.
-- Arrays go together by position, as in _enqueue, everything checked already. One row for each, in order.
create or replace function :"schema"._inbox_enqueue(
    ids uuid[], topics text[], payloads text[], correlations text[], streams text[], headers text[],
    dues timestamptz[], delays bigint[], ttls bigint[], attempts int[],
    sources text[], external_ids text[], hashes text[])
returns setof :"schema".inbox_enqueue_result language plpgsql volatile security definer rows 1000 :hot
set enable_hashjoin = on as $$
#variable_conflict use_column
declare
    known record;
    news record;
    work_ids bigint[];
begin
    select array_agg(k.message_id) as ids, array_agg(k.is_ours) as ours, array_agg(k.content_hash) as hashes,
           bool_or(k.is_ours) as some_ours, bool_and(k.is_ours) and count(*) = cardinality(ids) as all_ours
    into known from :"schema"._note_keys(sources, external_ids, hashes, ids, 1::smallint) k;
    if known.all_ours then   -- as they stand
        work_ids := :"schema"._inbox_store(ids, topics, payloads, correlations, streams, headers, dues, delays, ttls,
                                      attempts, sources, external_ids);
        if hashes is null or array_position(hashes, null) = 1 and cardinality(hashes) = 1 then
            return query select i.work_id, i.id, false, false from unnest(ids, work_ids) i(id, work_id);
        else
            return query
                select i.work_id, i.id, false, coalesce(i.hash <> k.hash, false)
                from unnest(ids, hashes, work_ids) with ordinality i(id, hash, work_id, n)
                join unnest(known.ids, known.hashes) k(id, hash) on k.id = i.id order by i.n;
        end if;
        return;
    end if;
    -- The first of each key that is ours.
    if known.some_ours then
        select array_agg(i.n order by i.n) as ns, array_agg(i.id order by i.n) as ids,
               array_agg(i.topic order by i.n) as topics, array_agg(i.payload order by i.n) as payloads,
               array_agg(i.correlation order by i.n) as correlations, array_agg(i.stream order by i.n) as streams,
               array_agg(i.header order by i.n) as headers, array_agg(i.due order by i.n) as dues,
               array_agg(i.delay order by i.n) as delays, array_agg(i.ttl order by i.n) as ttls,
               array_agg(i.attempt order by i.n) as attempts, array_agg(i.source order by i.n) as sources,
               array_agg(i.external_id order by i.n) as external_ids
        into news from (
            select i.*, row_number() over (partition by i.id order by i.n) as turn
            from unnest(ids, topics, payloads, correlations, streams, headers, dues, delays, ttls, attempts, sources,
                        external_ids)
                with ordinality i(id, topic, payload, correlation, stream, header, due, delay, ttl, attempt, source,
                                  external_id, n)
            join unnest(known.ids, known.ours) k(id, is_ours) on k.id = i.id
            where k.is_ours) i
        where i.turn = 1;
        work_ids := :"schema"._inbox_store(news.ids, news.topics, news.payloads, news.correlations, news.streams,
                                      news.headers, news.dues, news.delays, news.ttls, news.attempts, news.sources,
                                      news.external_ids);
    else
        select null::uuid[] as ids, null::bigint[] as ns into news;
    end if;
    return query
        select coalesce(w.work_id, case m.box when 1 then m.work_id end), i.id, w.n is distinct from i.n,
               coalesce(i.hash <> k.hash, false)
        from unnest(ids, hashes) with ordinality i(id, hash, n)
        join unnest(known.ids, known.hashes) k(id, hash) on k.id = i.id
        left join unnest(news.ids, work_ids, news.ns) w(id, work_id, n) on w.id = i.id
        left join lateral (
            select m.work_id, m.box from :"schema".message m where w.id is null and m.message_id = i.id limit 1) m on true
        order by i.n;
end $$;
