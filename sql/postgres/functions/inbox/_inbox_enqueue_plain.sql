-- Stores one message from outside that has nothing but a topic and a payload. The library sends most of them this way.
-- It does the work of _inbox_enqueue_one, with no more settings than its look through an index needs.
-- _inbox_enqueue_one gets what is unusual, such as a key that was only seen. p_alone: see _inbox_put.
create or replace function :"schema"._inbox_enqueue_plain(
    p_id uuid, p_topic text, p_payload text, p_source text, p_external_id text, p_hash text, p_alone boolean)
returns :"schema".inbox_enqueue_result language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    result :"schema".inbox_enqueue_result;
begin
    -- No worker sleeps (see _enqueue_plain), and no member of a join waits for a message.
    if (p_id <> '00000000-0000-0000-0000-000000000000' and char_length(p_topic) between 1 and :topic_max
        and octet_length(p_payload) <= :payload_always
        and char_length(p_source) between 1 and :source_max and char_length(p_external_id) between 1 and :external_id_max
        and coalesce(char_length(p_hash) <= :content_hash_max, true)
        and pg_sequence_last_value(':"schema".awaited_flag') is null
        and coalesce(pg_sequence_last_value(':"schema".sleeper_flag') >> 32 <= date_part('epoch', ts)::bigint - 1577836800, true)) then
        insert into :"schema".inbox_key as k (source, external_id, message_id, state, first_seen_at, last_seen_at, seen_count,
                                         content_hash)
        values (p_source, p_external_id, p_id, 1, ts, ts, 1, p_hash)
        on conflict (source, external_id) do update   -- as in _inbox_put
            set last_seen_at = case when excluded.last_seen_at >= k.last_seen_at + interval '1 second' then excluded.last_seen_at
                                    else k.last_seen_at end,
                seen_count = k.seen_count + 1,
                content_hash = coalesce(k.content_hash, excluded.content_hash)
            where k.state <> 0
        returning null::bigint, p_id, k.seen_count > 1, coalesce(p_hash <> k.content_hash, false) into result;
        if not result.duplicate then
            insert into :"schema".message as m (message_id, box, lane, created_at, topic, payload, source, external_id)
            values (p_id, 1, 0, ts, p_topic, p_payload, p_source, p_external_id)
            on conflict (message_id) do nothing
            returning m.work_id into result.work_id;
            if result.work_id is null then
                perform :"schema"._inbox_taken(p_id);
            end if;
            return result;
        elsif result.duplicate then
            select case m.box when 1 then m.work_id end into result.work_id
            from :"schema".message m where m.message_id = p_id limit 1;
            if p_alone and p_hash is null then   -- nothing but a sighting, which a crash may forget
                perform set_config('synchronous_commit', 'off', true);
            end if;
            return result;
        end if;
    end if;
    return :"schema"._inbox_enqueue_one(p_id, p_topic, p_payload, null, null, null, null, null, null, null, p_source,
                                   p_external_id, p_hash, p_alone);
end $$;
