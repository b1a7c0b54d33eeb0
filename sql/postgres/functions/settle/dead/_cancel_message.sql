-- _cancel for the library. Returns the joins that it has ended.
create or replace function :"schema"._cancel_message(p_box smallint, p_work_id bigint, p_message_id uuid)
returns uuid[] language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._cancel(p_box, p_work_id, p_message_id);
    return array(select e.join_id from :"schema"._joins_ended() e);
end $$;
