-- Enqueues one message that has nothing but a topic and a payload, under an id that may be there already: the caller's,
-- or that of its key. p_other: the id that programs of another version give to the same key, null without a key. The
-- library sends most messages with a key this way: it does the work of _enqueue_one with the settings of
-- _enqueue_plain. _enqueue_one gets what is unusual: also a message that is there, which takes a plan to find.
create or replace function :"schema"._enqueue_known(p_id uuid, p_topic text, p_payload text, p_other uuid)
returns :"schema".enqueue_result language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    result :"schema".enqueue_result;
begin
    -- No worker sleeps (see _enqueue_plain), no member of a join waits for a message, no id of version 9 is there or is
    -- this one.
    if (p_id <> '00000000-0000-0000-0000-000000000000' and char_length(p_topic) between 1 and :topic_max
        and octet_length(p_payload) <= :payload_always
        and pg_sequence_last_value(':"schema".awaited_flag') is null
        and case when p_other is null then not :"schema"._is_derived(p_id)
                 else pg_sequence_last_value(':"schema".old_key_flag') is null end
        and coalesce(pg_sequence_last_value(':"schema".sleeper_flag') >> 32
                     <= date_part('epoch', clock_timestamp())::bigint - 1577836800, true)) then
        insert into :"schema".message as m (message_id, box, lane, created_at, topic, payload)
        values (p_id, 0, 0, clock_timestamp(), p_topic, p_payload)
        on conflict (message_id) do nothing
        returning m.work_id, m.message_id, false into result;
        if result.work_id is not null then
            return result;
        end if;
    end if;
    return :"schema"._enqueue_one(p_id, p_topic, p_payload, null, null, null, null, null, null, null, false, null, p_other, null);
end $$;
