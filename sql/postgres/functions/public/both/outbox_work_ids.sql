-- The work ids of messages of this box by their message ids, for calls that settle: outbox_ack(owner,
-- outbox_work_ids(...)). Ids that no message has are left out.
create or replace function :"schema".outbox_work_ids(message_ids uuid[]) returns bigint[]
language plpgsql stable security definer :hot as $$
begin
    return array_remove(:"schema"._work_ids(0::smallint, message_ids), 0);
end $$;
