-- The work ids of messages of a box by their message ids, in their order; 0 = the box has no such message.
create or replace function :"schema"._work_ids(p_box smallint, message_ids uuid[]) returns bigint[]
language plpgsql stable security definer :hot as $$
declare
    log constant smallint := case when p_box < 2 then p_box else :"schema"._log_box(p_box) end;
begin
    return array(
        select coalesce(m.work_id, 0) from unnest(message_ids) with ordinality i(id, n) left join lateral (
            select x.work_id, x.box from :"schema".message x where x.message_id = i.id limit 1) m on m.box = log
        order by i.n);
end $$;
