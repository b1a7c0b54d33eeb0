-- Stores an array of objects with the names of inbox_enqueue's arguments, in one statement. Everything has been
-- checked. One result for each, in order; whoever gave another hash than before is warned.
create or replace function :"schema"._inbox_enqueue_objects(messages jsonb)
returns setof :"schema".inbox_enqueue_result language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    said record;
    results :"schema".inbox_enqueue_result[];
begin
    select array_agg(:"schema"._inbox_id(o ->> 'source', o ->> 'id') order by n) as ids,
           array_agg(o ->> 'topic' order by n) as topics, array_agg(o ->> 'payload' order by n) as payloads,
           array_agg(nullif(o ->> 'correlation_id', '') order by n) as correlations,
           array_agg(nullif(o ->> 'stream', '') order by n) as streams,
           array_agg(nullif(o -> 'headers', 'null')::text order by n) as headers,
           array_agg((o ->> 'due_at')::timestamptz order by n) as dues,
           array_agg(ceil(extract(epoch from (o ->> 'ttl')::interval) * 1000)::bigint order by n) as ttls,
           array_agg((o ->> 'max_attempts')::int order by n) as attempts,
           array_agg(o ->> 'source' order by n) as sources, array_agg(o ->> 'id' order by n) as external_ids,
           array_agg(nullif(o ->> 'content_hash', '') order by n) as hashes
    into said from jsonb_array_elements(messages) with ordinality e(o, n);
    if said.ids is null then
        return;
    end if;
    select array_agg((r.work_id, r.message_id, r.duplicate, r.hash_mismatch):::"schema".inbox_enqueue_result order by r.n)
    into results
    from :"schema"._inbox_enqueue(
        said.ids, said.topics, said.payloads, said.correlations, said.streams, said.headers, said.dues, null,
        said.ttls, said.attempts, said.sources, said.external_ids, said.hashes)
        with ordinality r(work_id, message_id, duplicate, hash_mismatch, n);
    perform :"schema"._warn_of_hash(r.source, r.id)
    from unnest(said.sources, said.external_ids, results)
        r(source, id, work_id, message_id, duplicate, hash_mismatch)
    where r.hash_mismatch;
    return query select * from unnest(results);
end $$;
