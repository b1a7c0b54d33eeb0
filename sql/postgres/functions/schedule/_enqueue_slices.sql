-- Enqueues slices of a schedule: messages and what the shards know of them. The caller has locked the shards. New slices of a schedule
-- with a then_topic are the steps of a join, all together; there is none while a subscription takes the topic away. p_again: they
-- were enqueued before, and the messages ended badly; from the third on they are due after growing pauses. Returns how many.
create or replace function :"schema"._enqueue_slices(p_id uuid, p_shards int[], p_slices bigint[], p_again boolean, ts timestamptz)
returns int language plpgsql volatile :hot set enable_hashjoin = on as $$
declare
    n constant int := cardinality(p_shards);
    s :"schema".schedule_row;
    messages constant uuid[] := array(select :"schema"._new_message_id() from generate_series(1, n));
    topics text[];
    joined uuid;
begin
    select * into s from :"schema".schedule_row x where x.id = p_id;
    topics := array_fill(:"schema"._slice_topic(s.topic, s.work_key), array[n]);
    if s.then_topic is not null and not p_again then
        if :"schema"._is_taken_away(topics[1]) then
            raise warning using errcode = '01BX3', message = format(
                '%s: a subscription takes the slices away from the main reader, so no then_topic follows them', topics[1]),
                hint = 'Remove the subscription, or make the schedule again without then_topic.';
        else
            joined := :"schema"._new_message_id();
            perform :"schema"._join_start(joined, n, null, null, null, 0);
        end if;
    end if;
    update :"schema".schedule_shard x
    set slice = i.slice, tries = case when p_again then x.tries + 1 else 1 end, message_id = i.message, work_id = e.work_id,
        enqueued_at = ts, completed_at = null, due_at = null
    from unnest(p_shards, p_slices, messages) i(shard, slice, message)
    join :"schema"._enqueue_messages(
        0::smallint, messages, topics,
        array(select format('{"topic": %s, "work_key": %s, "shard": %s, "shards": %s, "slice": %s}', to_json(s.topic),
                            to_json(s.work_key), a.shard, s.shards, a.slice)
              from unnest(p_shards, p_slices) with ordinality a(shard, slice, n) order by a.n),
        null, null, null, null,
        case when p_again then array(
            select least(s.every_ms, case when x.tries < 2 then 0 else 1000 << least(x.tries, 20) end)
            from unnest(p_shards) with ordinality a(shard, n) join :"schema".schedule_shard x on x.id = p_id and x.shard = a.shard
            order by a.n) end,
        null, null, true, case when joined is not null then array_fill(joined, array[n]) end) e
        on e.message_id = i.message
    where x.id = p_id and x.shard = i.shard;
    if joined is not null then
        perform :"schema"._await_slices(joined, s, n);
    end if;
    return n;
end $$;
