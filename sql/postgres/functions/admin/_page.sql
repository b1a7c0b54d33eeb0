-- One page of messages, newest first, without payloads.
create or replace function :"schema"._page(
    p_box smallint, p_status text, p_topic text, prefix boolean, p_after bigint, max_messages int)
returns setof :"schema"._item language plpgsql stable security definer :pinned as $$
begin
    perform :"schema"._check_most('max_messages', max_messages);
    return query select * from :"schema"._items(
        :"schema"._page_ids(p_box, p_status, p_topic, prefix, p_after, max_messages), false);
end $$;
