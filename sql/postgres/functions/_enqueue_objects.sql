-- Enqueues an array of objects with the names of enqueue's arguments, in one statement. Everything has been
-- checked. Returns what became of each, in order.
create or replace function :"schema"._enqueue_objects(p_box smallint, messages jsonb) returns jsonb
language plpgsql volatile :hot as $$
declare
    said record;
begin
    select array_agg(case when m.o -> 'unique' = 'true' then :"schema"._new_message_id()
                          else coalesce(k.id, (m.o ->> 'message_id')::uuid, :"schema"._new_message_id()) end
                     order by m.n) as ids,
           array_agg(case when m.o -> 'unique' is distinct from 'true' then k.other end order by m.n) as others,
           array_agg(case when m.o -> 'unique' = 'true' then k.id end order by m.n) as uniques,
           bool_or(m.o -> 'unique' = 'true') as has_unique,
           array_agg(m.o ->> 'topic' order by m.n) as topics,
           array_agg(m.o ->> 'payload' order by m.n) as payloads,
           array_agg(nullif(m.o ->> 'correlation_id', '') order by m.n) as correlations,
           array_agg(nullif(m.o ->> 'stream', '') order by m.n) as streams,
           array_agg(nullif(m.o -> 'headers', 'null')::text order by m.n) as headers,
           array_agg((m.o ->> 'due_at')::timestamptz order by m.n) as dues,
           array_agg(ceil(extract(epoch from (m.o ->> 'ttl')::interval) * 1000)::bigint order by m.n) as ttls,
           array_agg((m.o ->> 'max_attempts')::int order by m.n) as attempts,
           array_agg((m.o ->> 'join_id')::uuid order by m.n) as joins,
           bool_or(m.o ->> 'join_id' is not null) as attaches
    into said
    from jsonb_array_elements(messages) with ordinality m(o, n)
    left join lateral (
        select :"schema"._topic_key_id(m.o ->> 'topic', d.id) as id, d.id as other
        from (select :"schema"._derive_id('boxcar:key:', m.o ->> 'key') as id) d) k on m.o ->> 'key' is not null;
    if said.ids is null then
        return '[]';
    end if;
    return (
        select jsonb_agg(jsonb_build_object('work_id', r.work_id, 'message_id', r.message_id, 'duplicate', r.duplicate)
                         order by r.n)
        from :"schema"._enqueue_messages(p_box, said.ids, said.topics, said.payloads, said.correlations, said.streams, said.headers,
                                said.dues, null, said.ttls, said.attempts, false,
                                case when said.attaches then said.joins end, null, null, said.others,
                                case when said.has_unique then said.uniques end)
            with ordinality r(work_id, message_id, duplicate, n));
end $$;
