-- Makes a message a member of a join; a repetition changes nothing. Says whether it is a new member, and whether a
-- message with this id exists (yet).
create or replace function :"schema".join_attach(join_id uuid, message_id uuid)
returns :"schema".join_attach_result language plpgsql volatile security definer :hot as $$
declare
    result :"schema".join_attach_result;
begin
    perform :"schema"._check_join(join_id, 'message_id', array[message_id]);
    select * into result from :"schema"._attach(join_id, array[message_id]);
    return result;
end $$;
