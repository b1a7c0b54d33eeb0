-- Whether this message has this unique key: it was stored with it, and is neither done nor dead.
create or replace function :"schema"._has_key(p_message_id uuid, p_key uuid) returns boolean
language plpgsql stable :hot as $$
begin
    return exists (
        select from :"schema".message m where m.message_id = p_message_id and m.unique_key = p_key
          and not exists (select from :"schema".dead d where d.work_id = m.work_id and d.box = m.box)
          and not coalesce((select f.last_id >= m.work_id from :"schema".finished f
                            where f.box = m.box and f.first_id <= m.work_id order by f.first_id desc limit 1), false));
end $$;
