-- One join, or no row.
create or replace function :"schema"._join_find(p_join uuid) returns setof :"schema".outbox_join
language plpgsql stable security definer :hot as $$
begin
    return query select * from :"schema".outbox_join j where j.join_id = p_join;
end $$;
