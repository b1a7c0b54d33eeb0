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
    given constant uuid[] := ids;
    fresh uuid[];    -- the messages whose keys are new
    known record;
    ns bigint[];     -- which of the given ones are stored; then the arrays are theirs
    work_ids bigint[];
    taken uuid;
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
    if (cardinality(fresh) = cardinality(ids)) is not true then   -- else they are stored as they stand
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
        if fresh is not null or true = any (known.ours) then   -- the first message of each key that this call has taken
            select array_agg(i.n order by i.n), array_agg(i.id order by i.n), array_agg(i.topic order by i.n),
                   array_agg(i.payload order by i.n), array_agg(i.correlation order by i.n), array_agg(i.stream order by i.n),
                   array_agg(i.header order by i.n), array_agg(i.due order by i.n), array_agg(i.delay order by i.n),
                   array_agg(i.ttl order by i.n), array_agg(i.attempt order by i.n), array_agg(i.source order by i.n),
                   array_agg(i.external_id order by i.n), array_agg(i.causation order by i.n),
                   case when event_types is not null then array_agg(i.event_type order by i.n) end,
                   case when _inbox_enqueue.metadata is not null then array_agg(i.metadata order by i.n) end
            into ns, ids, topics, payloads, correlations, streams, headers, dues, delays, ttls, attempts, sources,
                 external_ids, causations, event_types, metadata
            from (
                select i.*, row_number() over (partition by i.id order by i.n) as turn
                from unnest(ids, topics, payloads, correlations, streams, headers, dues, delays, ttls, attempts, sources,
                            external_ids, causations, event_types, _inbox_enqueue.metadata)
                    with ordinality i(id, topic, payload, correlation, stream, header, due, delay, ttl, attempt, source,
                                      external_id, causation, event_type, metadata, n)
                left join unnest(fresh) w(id) on w.id = i.id
                left join unnest(known.ids, known.ours) k(id, is_ours) on k.id = i.id
                where w.id is not null or k.is_ours) i
            where i.turn = 1;
        else
            ids := null;
        end if;
    end if;
    if ids is not null then
        select array_agg(e.work_id), (array_agg(e.message_id) filter (where e.duplicate))[1] into work_ids, taken
        from :"schema"._enqueue_messages(
            1::smallint, ids, topics, payloads, correlations, streams, headers, dues, delays, ttls, attempts, false, null,
            sources, external_ids, null, null, causations, event_types, metadata) e;
        if taken is not null then
            perform :"schema"._inbox_taken(taken);
        end if;
    end if;
    if ns is null and ids is not null then
        return query select i.work_id, i.id, false, false from unnest(ids, work_ids) i(id, work_id);
        return;
    end if;
    return query
        select coalesce(w.work_id, case m.box when 1 then m.work_id end), i.id, w.n is distinct from i.n,
               coalesce(i.hash <> k.hash, false)
        from unnest(given, hashes) with ordinality i(id, hash, n)
        left join unnest(known.ids, known.hashes) k(id, hash) on k.id = i.id
        left join unnest(ids, work_ids, ns) w(id, work_id, n) on w.id = i.id
        left join lateral (
            select m.work_id, m.box from :"schema".message m where w.id is null and m.message_id = i.id limit 1) m on true
        order by i.n;
end $$;
