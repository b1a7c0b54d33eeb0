-- A page of a join's members by message id, behind p_after (null = from the first). BX002: no such join.
create or replace function :"schema"._join_members(p_join uuid, p_after uuid, max_members int)
returns setof :"schema".outbox_join_member language plpgsql stable security definer :hot
set enable_sort = off set enable_bitmapscan = off as $$
begin
    perform :"schema"._check_join(p_join, null, null);
    perform :"schema"._check_most('max_members', max_members);
    if not exists (select from :"schema".join_row j where j.join_id = p_join) then
        raise exception using errcode = 'BX002', message = 'there is no join ' || p_join;
    end if;
    return query
        select v.* from :"schema".outbox_join_member v
        where v.join_id = p_join
          and v.message_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
        order by v.message_id limit max_members;
end $$;
