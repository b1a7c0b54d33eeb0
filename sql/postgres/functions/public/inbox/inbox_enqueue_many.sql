-- Stores an array of objects with the names of inbox_enqueue's arguments, all or none; one result row each, in
-- order. A key that comes twice is stored once. Warns of each key that came with another hash than before.
create or replace function :"schema".inbox_enqueue_many(messages jsonb)
returns setof :"schema".inbox_enqueue_result language plpgsql volatile security definer rows 1000 :hot as $$
#variable_conflict use_column
declare
    given record;
    results :"schema".inbox_enqueue_result[];
begin
    if messages is null or jsonb_typeof(messages) <> 'array' then
        perform :"schema"._invalid('messages', 'must be a JSON array of objects');
    end if;
    given := :"schema"._read_messages(messages, 1::smallint);
    if given.is_usual is not true then
        perform :"schema"._check_object(e.value, format('messages[%s]', e.ordinality - 1), 1::smallint)
        from jsonb_array_elements(messages) with ordinality e(value, ordinality) order by e.ordinality;
        if messages = '[]' then
            return;
        end if;
    end if;
    if given.hashes is null then
        return query select * from :"schema"._inbox_enqueue(
            given.ids, given.topics, given.payloads, given.correlations, given.streams, given.headers, given.dues, null,
            given.ttls, given.attempts, given.sources, given.external_ids, null, given.causations, given.event_types,
            given.metadata);
        return;
    end if;
    select array_agg((r.work_id, r.message_id, r.duplicate, r.hash_mismatch):::"schema".inbox_enqueue_result order by r.n)
    into results
    from :"schema"._inbox_enqueue(
        given.ids, given.topics, given.payloads, given.correlations, given.streams, given.headers, given.dues, null,
        given.ttls, given.attempts, given.sources, given.external_ids, given.hashes, given.causations,
        given.event_types, given.metadata)
        with ordinality r(work_id, message_id, duplicate, hash_mismatch, n);
    perform :"schema"._warn_of_hash(r.source, r.id)
    from unnest(given.sources, given.external_ids, results)
        r(source, id, work_id, message_id, duplicate, hash_mismatch)
    where r.hash_mismatch;
    return query select * from unnest(results);
end $$;
