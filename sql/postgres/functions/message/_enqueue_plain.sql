-- Enqueues one message that has nothing but a topic and a payload, under an id that was made in this very call and
-- cannot exist. The library sends most messages this way. Returns the work id. _refuse_message gets what is unusual.
--
-- Each setting of a function costs every call half a microsecond, the search path three. An INSERT of values has only
-- one plan, so only the search path has to be pinned. Expressions are few, because each has to be set up anew in every
-- transaction.
create or replace function :"schema"._enqueue_plain(p_id uuid, p_topic text, p_payload text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    id_stored bigint;
begin
    if (p_id <> '00000000-0000-0000-0000-000000000000' and char_length(p_topic) between 1 and :topic_max
        and octet_length(p_payload) <= :payload_always) is not true then
        perform :"schema"._refuse_message(
            0::smallint, p_id, p_topic, p_payload, null, null, null, null, null, null, null);
    end if;
    insert into :"schema".message (message_id, box, lane, created_at, topic, payload)
    values (p_id, 0, 0, clock_timestamp(), p_topic, p_payload) returning work_id into id_stored;
    -- Does a worker sleep, and until when (in seconds from 2020), and for such a topic (see _topic_bits)?
    if pg_sequence_last_value(':"schema".sleeper_flag') >> 32
       > date_part('epoch', clock_timestamp())::bigint - 1577836800 then
        if pg_sequence_last_value(':"schema".sleeper_flag')
           & ((1::bigint << (hashtext(p_topic) & 15)) | (65536::bigint << (ascii(p_topic) & 15))) <> 0 then
            perform :"schema"._wake_topic(0::smallint, p_topic);
        end if;
    end if;
    return id_stored;
end $$;
