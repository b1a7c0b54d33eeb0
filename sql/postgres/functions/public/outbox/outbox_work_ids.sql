-- The work ids of messages of the outbox by their message ids, for calls that settle: outbox_ack(owner, outbox_work_ids(...)).
-- Ids that no message has are left out.
create or replace function :"schema".outbox_work_ids(message_ids uuid[]) returns bigint[]
language plpgsql stable security definer :hot as $$
begin
    return array(
        select m.work_id from unnest(message_ids) with ordinality i(id, n) cross join lateral (
            select m.work_id, m.box from :"schema".message m where m.message_id = i.id limit 1) m
        where m.box = 0 order by i.n);
end $$;
