-- One message by either id, with its payload; no row when there is none.
create or replace function :"schema"._find(p_box smallint, p_work_id bigint, p_message_id uuid)
returns setof :"schema"._item language sql stable security definer :pinned as $$
    select * from :"schema"._read_items(p_box, array[:"schema"._find_id(p_box, p_work_id, p_message_id)], true)
$$;
