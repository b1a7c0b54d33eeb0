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
    taken uuid;
begin
    select array_agg(k.message_id) as ids, array_agg(k.is_ours) as ours, array_agg(k.content_hash) as hashes
    into known from :"schema"._note_keys(sources, external_ids, hashes, ids, 1::smallint) k;
    -- The first of each key that is ours.
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
    if news.ns is not null then
        with stored as materialized (
            select e.work_id, e.message_id, e.duplicate, row_number() over () as n from :"schema"._enqueue(
                1::smallint, news.ids, news.topics, news.payloads, news.correlations, news.streams, news.headers, news.dues,
                news.delays, news.ttls, news.attempts, false, null, news.sources, news.external_ids) e)
        select array_agg(s.work_id order by s.n), (array_agg(s.message_id) filter (where s.duplicate))[1]
        into work_ids, taken from stored s;
        if taken is not null then
            raise exception using errcode = 'BX003',
                message = format('another message has the id %s, which stands for this key', taken);
        end if;
    end if;
    return query
        select coalesce(w.work_id, case m.box when 1 then m.work_id end), i.id, w.n is distinct from i.n, coalesce(i.hash <> k.hash, false)
        from unnest(ids, hashes) with ordinality i(id, hash, n)
        join unnest(known.ids, known.hashes) k(id, hash) on k.id = i.id
        left join unnest(news.ids, work_ids, news.ns) w(id, work_id, n) on w.id = i.id
        left join lateral (
            select m.work_id, m.box from :"schema".message m where w.id is null and m.message_id = i.id limit 1) m on true
        order by i.n;
end $$;
