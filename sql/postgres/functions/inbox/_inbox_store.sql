-- Stores the messages of keys that are new; returns their work ids, in order. BX003 when another message has one of
-- their ids.
create or replace function :"schema"._inbox_store(
    ids uuid[], topics text[], payloads text[], correlations text[], streams text[], headers text[],
    dues timestamptz[], delays bigint[], ttls bigint[], attempts int[], sources text[], external_ids text[],
    causations text[] default null, event_types text[] default null, metadata text[] default null)
returns bigint[] language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    stored record;
begin
    select array_agg(e.work_id) as work_ids, (array_agg(e.message_id) filter (where e.duplicate))[1] as taken
    into stored from :"schema"._enqueue_messages(
        1::smallint, ids, topics, payloads, correlations, streams, headers, dues, delays, ttls, attempts, false, null,
        sources, external_ids, null, null, causations, event_types, metadata) e;
    if stored.taken is not null then
        perform :"schema"._inbox_taken(stored.taken);
    end if;
    return stored.work_ids;
end $$;
