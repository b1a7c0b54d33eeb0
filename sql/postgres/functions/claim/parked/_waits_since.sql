-- Since when a parked message that is ready and _is_untried waits: since it was due or enqueued, as if nobody had met it.
-- Not so one that is on record (a dead letter that was replayed) and a wait for a join, which was deferred on purpose.
create or replace function :"schema"._waits_since(p_work_id bigint) returns timestamptz
language plpgsql stable :hot as $$
declare
    wait_topic text := coalesce((select s.text from :"schema".setting s where s.name = 'join_wait_topic'), 'join.wait');
begin
    return (select case when p.topic = wait_topic or exists (select from :"schema".attempt a where a.work_id = p_work_id)
                        then p.available_at else coalesce(greatest(m.due_at, m.created_at), p.available_at) end
            from :"schema".parked p left join :"schema".message m on m.work_id = p.work_id
            where p.work_id = p_work_id);
end $$;
