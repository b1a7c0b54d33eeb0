-- Enqueues one message in the caller's transaction: it is delivered if and only if that commits.
-- The id of a message that is already there makes it a no-op that returns the existing ids. A key stands for an id, in its
-- topic; with unique, it stands for its newest message, and only until that has ended.
create or replace function :"schema".enqueue(
    topic text, payload text, correlation_id text default null, due_at timestamptz default null,
    ttl interval default null, stream text default null, headers jsonb default null,
    message_id uuid default null, key text default null, max_attempts int default null,
    join_id uuid default null, "unique" boolean default null)
returns :"schema".enqueue_result language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    flag bigint := pg_sequence_last_value(':"schema".sleeper_flag');
    key_id uuid;
    result :"schema".enqueue_result;
begin
    perform :"schema"._check_message('', topic, payload, correlation_id, due_at, ttl, stream, headers,
                                     message_id, key, max_attempts, join_id);
    if key is not null then
        key_id := :"schema"._derive_id('boxcar:key:', key);   -- in all topics, as programs of version 9 have it
        if "unique" then
            key_id := :"schema"._topic_key_id(enqueue.topic, key_id);
            result.message_id := (:"schema"._take_keys(array[key_id], array[:"schema"._new_message_id()]))[1];
        else
            -- As _known_ids and _topic_key_id have it, without their calls.
            select m.message_id into result.message_id from :"schema".message m
            where m.message_id = key_id and m.topic = enqueue.topic collate "C" limit 1;
            if result.message_id is null then
                result.message_id := :"schema"._derive_id('boxcar:topic-key:', key_id || enqueue.topic);
            end if;
        end if;
    elsif "unique" then
        perform :"schema"._invalid('unique', 'needs a key');
    else
        result.message_id := coalesce(enqueue.message_id, :"schema"._new_message_id());
    end if;
    insert into :"schema".message as m (message_id, box, lane, max_attempts, created_at, due_at, expires_at,
                                   topic, payload, stream, correlation_id, headers, unique_key)
    values (result.message_id, 0, (coalesce(enqueue.stream, '') <> '')::int, enqueue.max_attempts, ts,
            enqueue.due_at, ts + ttl, enqueue.topic, enqueue.payload, nullif(enqueue.stream, ''),
            nullif(enqueue.correlation_id, ''), enqueue.headers, case when "unique" then key_id end)
    on conflict (message_id) do nothing
    returning m.work_id into result.work_id;
    result.duplicate := result.work_id is null;
    if flag is not null then   -- as in _enqueue
        if flag >> 32 > extract(epoch from ts)::bigint - 1577836800 and coalesce(due_at <= ts, true)
           and flag & ((1::bigint << (hashtext(enqueue.topic) & 15))
                       | (65536::bigint << (ascii(enqueue.topic) & 15))) <> 0 then
            perform :"schema"._wake(0::smallint) where exists (
                select from :"schema".sleeper s
                where s.until > ts and s.box = 0 and :"schema"._wanted(enqueue.topic, s.exact, s.prefixes));
        end if;
    end if;
    if result.duplicate then
        select m.work_id into result.work_id from :"schema".message m where m.message_id = result.message_id;
    elsif enqueue.message_id is not null or key is not null then
        if exists (select from :"schema".join_member m where m.message_id = result.message_id and m.work_id is null) then
            perform :"schema"._resolve_members(array[result.message_id], array[result.work_id]);
        end if;
    end if;
    if enqueue.join_id is not null then
        perform :"schema"._attach_enqueued(array[enqueue.join_id], array[result.message_id],
                                           array[result.work_id], array[result.duplicate], ts);
    end if;
    return result;
end $$;
