-- Which stages of a message are done, for programs of version 11; 0 = there is no such message.
create or replace function :"schema"._stages(p_work_id bigint) returns int
language sql stable security definer :pinned as $$
    select coalesce((select i.stages from :"schema"._item i where i.work_id = p_work_id and i.reader < 2 limit 1), 0)
$$;
