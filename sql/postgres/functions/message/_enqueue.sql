-- _enqueue_messages for programs of schema version 9. They derive the id of a keyed message from the key alone, so the
-- same key of the same topic may be there under the id that topic and key give.
create or replace function :"schema"._enqueue(
    p_box smallint, ids uuid[], topics text[], payloads text[], correlations text[], streams text[],
    headers text[], dues timestamptz[], delays bigint[], ttls bigint[], attempts int[], fresh_ids boolean,
    joins uuid[] default null, sources text[] default null, external_ids text[] default null)
returns setof :"schema".enqueue_result language plpgsql volatile security definer rows 1000 :hot as $$
begin
    if not fresh_ids then
        perform :"schema"._note_old_keys(ids);
    end if;
    return query select * from :"schema"._enqueue_messages(
        p_box, ids, topics, payloads, correlations, streams, headers, dues, delays, ttls, attempts, fresh_ids, joins,
        sources, external_ids,
        case when not fresh_ids then array(
            select case when :"schema"._is_derived(i.id) then :"schema"._hash_id('boxcar:topic-key:', i.id || i.topic) end
            from unnest(ids, topics) with ordinality i(id, topic, n) order by i.n) end);
end $$;
