-- One page of the dead letters that a filter chooses, newest message first, without payloads.
create or replace function :"schema"._dead_page(
    p_box smallint, p_topic text, prefix boolean, p_reason smallint, before timestamptz, work_ids bigint[],
    message_ids uuid[], p_after bigint, max_messages int)
returns setof :"schema"._item language plpgsql stable security definer :pinned as $$
begin
    perform :"schema"._check_most('max_messages', max_messages);
    return query select * from :"schema"._read_items(p_box, :"schema"._dead_ids(
        p_box, p_topic, prefix, p_reason, before, work_ids, message_ids, p_after, max_messages), false);
end $$;
