-- Since when a parked message waits that is ready and _is_untried: since it was due or enqueued, as if no claimer had
-- met it. For a message on record (a dead letter that was replayed), and for a wait for a join, which was deferred on
-- purpose, it is available_at.
create or replace function :"schema"._waits_since(p_box smallint, p_work_id bigint) returns timestamptz
language plpgsql stable :hot as $$
declare
    wait_topic text := coalesce((select s.text from :"schema".setting s where s.name = 'join_wait_topic'), 'join.wait');
begin
    return (select case when p_box = 0 and p.topic = wait_topic
                          or exists (select from :"schema".attempt a where a.work_id = p_work_id and a.reader = case when p_box > 1 then p_box else 0 end)
                        then p.available_at else coalesce(greatest(m.due_at, m.created_at), p.available_at) end
            from :"schema".parked p left join :"schema".message m on m.work_id = p.work_id
            where p.work_id = p_work_id and p.box = p_box);
end $$;
