-- Enqueues slices: of each shard the next one, or with p_again the same one again. The caller has locked the shards. New slices of a
-- schedule with a then_topic are the steps of a join, all together; there is none while a subscription takes the topic away. Returns how
-- many.
create or replace function :"schema"._enqueue_slices(p_ids uuid[], p_shards int[], p_again boolean, ts timestamptz) returns int
language plpgsql volatile :hot as $$
declare
    s :"schema".schedule_row;
    shards int[];
    slices bigint[];
    messages uuid[];
    topics text[];
    joined uuid;
    n int := 0;
begin
    for s in select r.* from :"schema".schedule_row r where r.id = any (p_ids) order by r.topic, r.work_key loop
        select array_agg(x.shard order by x.shard), array_agg(x.slice + case when p_again then 0 else 1 end order by x.shard),
               array_agg(:"schema"._new_message_id())
        into shards, slices, messages
        from unnest(p_ids, p_shards) i(id, shard) join :"schema".schedule_shard x on x.id = i.id and x.shard = i.shard
        where i.id = s.id;
        topics := array_fill(:"schema"._slice_topic(s.topic, s.work_key), array[cardinality(shards)]);
        joined := case when s.then_topic is not null and not p_again then :"schema"._new_message_id() end;
        if joined is not null and :"schema"._is_taken_away(topics[1]) then
            perform :"schema"._warn_of_trouble('a subscription takes its slices away from the main reader, so no then_topic follows them',
                                               topics[1], 'BX001');
            joined := null;
        end if;
        if joined is not null then
            perform :"schema"._join_start(joined, cardinality(shards), null, null, null, 0);
        end if;
        update :"schema".schedule_shard x
        set slice = i.slice, tries = case when p_again then x.tries + 1 else 1 end, message_id = i.message, work_id = e.work_id,
            enqueued_at = ts, completed_at = null, due_at = null
        from unnest(shards, slices, messages) i(shard, slice, message)
        join :"schema"._enqueue_messages(
            0::smallint, messages, topics,
            array(select format('{"topic": %s, "work_key": %s, "shard": %s, "shards": %s, "slice": %s}', to_json(s.topic),
                                to_json(s.work_key), a.shard, s.shards, a.slice)
                  from unnest(shards, slices) with ordinality a(shard, slice, n) order by a.n),
            null, null, null, null, null, null, null, true,
            case when joined is not null then array_fill(joined, array[cardinality(shards)]) end) e on e.message_id = i.message
        where x.id = s.id and x.shard = i.shard;
        if joined is not null then
            perform :"schema"._await_slices(joined, s, cardinality(shards));
        end if;
        n := n + cardinality(shards);
    end loop;
    return n;
end $$;
