-- Whether this message is in the store and is neither done nor dead.
create or replace function :"schema"._is_unfinished(p_message_id uuid) returns boolean
language plpgsql stable :hot as $$
begin
    return exists (
        select from :"schema".message m where m.message_id = p_message_id
          and not exists (select from :"schema".dead d where d.work_id = m.work_id)
          and not coalesce((select f.last_id >= m.work_id from :"schema".finished f
                            where f.first_id <= m.work_id order by f.first_id desc limit 1), false));
end $$;
