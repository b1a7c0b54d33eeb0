-- As join_attach for many messages, all or none; a row each, in order.
create or replace function :"schema".join_attach_many(join_id uuid, message_ids uuid[])
returns setof :"schema".join_attach_result language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_join(join_id, 'message_ids', message_ids);
    return query select * from :"schema"._attach(join_id, message_ids);
end $$;
