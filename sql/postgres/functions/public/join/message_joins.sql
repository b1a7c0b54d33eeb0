-- The joins that a message id is a member of, and its outcome in each. The message need not exist.
create or replace function :"schema".message_joins(message_id uuid) returns setof :"schema".outbox_join_member
language plpgsql stable security definer :hot as $$
#variable_conflict use_variable
begin
    return query select v.* from :"schema".outbox_join_member v where v.message_id = message_id order by v.join_id;
end $$;
