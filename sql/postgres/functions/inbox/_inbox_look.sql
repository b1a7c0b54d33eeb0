-- Has the message with this key been processed? Leaves a note that it was seen. The key stays locked until the commit,
-- so that no transaction removes the message meanwhile. A message that is queued is processed when it was acked.
create or replace function :"schema"._inbox_look(
    p_source text, p_external_id text, p_hash text, p_id uuid, out processed boolean, out hash_mismatch boolean)
language plpgsql volatile security definer :hot as $$
declare
    known record;
begin
    select * into known from :"schema"._note_keys(
        array[p_source], array[p_external_id], array[p_hash], array[p_id], 0::smallint);
    hash_mismatch := coalesce(p_hash <> known.content_hash, false);
    processed := known.state = 2;
    if known.state = 1 then
        processed := exists (
            select from :"schema".message m cross join lateral (
                select f.last_id from :"schema".finished f where f.box = 1 and f.first_id <= m.work_id
                order by f.first_id desc limit 1) f
            where m.message_id = p_id and f.last_id >= m.work_id);
    end if;
end $$;
