-- The id that a key of a topic stands for, from the topic and the id that the key alone gives. When a program of schema
-- version 9 enqueues, only that id is known of a key. boxcar_message_id_of_topic_key() in C computes the same.
create or replace function :"schema"._topic_key_id(topic text, key_id uuid) returns uuid
language plpgsql immutable :pinned as $$
begin
    return :"schema"._derive_id('boxcar:topic-key:', key_id || topic);
end $$;
