-- The joins that a message is a member of, whether it is there or not, and its outcome in each.
create or replace function :"schema".message_joins(message_id uuid) returns setof :"schema".outbox_join_member
language plpgsql stable security definer :hot as $$
#variable_conflict use_variable
begin
    return query select v.* from :"schema".outbox_join_member v where v.message_id = message_id order by v.join_id;
end $$;
