-- Enqueues a message that waits for a join, and is replaced by on_complete or on_fail when the join has ended. The end
-- of the join does that, or a worker, or maintenance; the wait spends no attempts. Returns the id of the wait's own
-- message; an id that exists changes nothing. The continuation has the wait's correlation id; its causation id is the
-- id of the wait's message.
create or replace function :"schema".join_wait(
    join_id uuid, fail_if_any_step_failed boolean, on_complete_topic text, on_complete_payload text,
    on_fail_topic text default null, on_fail_payload text default null, correlation_id text default null,
    message_id uuid default null, causation_id text default null)
returns uuid language plpgsql volatile security definer :hot as $$
declare
    id uuid := coalesce(message_id, :"schema"._new_message_id());
begin
    perform :"schema"._check_join(join_id, 'message_id', array[id]);
    perform :"schema"._fault('', case
        when fail_if_any_step_failed is null then array['fail_if_any_step_failed', 'is null: give true or false']
        when coalesce(on_complete_topic, '') = '' or char_length(on_complete_topic) > :topic_max
            then array['on_complete_topic', 'must have 1 to :topic_max characters']
        when on_complete_payload is null
            then array['on_complete_payload', 'is null: give a text, empty if there is nothing to say']
        when on_fail_topic = '' or char_length(on_fail_topic) > :topic_max
            then array['on_fail_topic', 'must have 1 to :topic_max characters, or be null if nothing follows a failure']
        when char_length(correlation_id) > :correlation_id_max
            then array['correlation_id', 'is longer than :correlation_id_max characters']
        when char_length(causation_id) > :causation_id_max
            then array['causation_id', 'is longer than :causation_id_max characters'] end);
    perform :"schema"._join_wait(join_id, id, json_build_object(
        'join_id', join_id, 'fail_if_any_step_failed', fail_if_any_step_failed,
        'on_complete_topic', on_complete_topic, 'on_complete_payload', on_complete_payload,
        'on_fail_topic', on_fail_topic, 'on_fail_payload', on_fail_payload)::text, nullif(correlation_id, ''), :max_attempts_max,
        nullif(causation_id, ''));
    return id;
end $$;
