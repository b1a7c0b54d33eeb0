-- Enqueues a message that waits for a join, after bringing the join up to date. BX002: no such join. An id
-- that exists changes nothing, as everywhere.
create or replace function :"schema"._join_wait(
    p_join uuid, p_message uuid, p_payload text, p_correlation text, p_attempts int)
returns table (work_id bigint, message_id uuid, duplicate boolean, counted boolean, ended boolean,
               expected_steps int, completed_steps int, failed_steps int, status text, reason text)
language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    topic constant text := coalesce((select s.text from :"schema".setting s where s.name = 'join_wait_topic'), 'join.wait');
    was_pending boolean;
    settled bigint;
    wait :"schema".enqueue_result;
begin
    select j.status = 0 into was_pending from :"schema".join_row j where j.join_id = p_join for no key update;
    if not found then
        raise exception using errcode = 'BX002', message = 'there is no join ' || p_join;
    end if;
    perform :"schema"._lock_lanes(p_join);
    select s.counted into settled from :"schema"._settle_joins(array[p_join], ts) s;
    select * into wait from :"schema"._enqueue_messages(
        0::smallint, array[p_message], array[topic], array[p_payload],
        case when p_correlation is not null then array[p_correlation] end, null, null, null, null, null,
        array[p_attempts], false);
    insert into :"schema".join_wait (join_id, work_id) select p_join, wait.work_id where not wait.duplicate;
    return query
        select wait.work_id, wait.message_id, wait.duplicate, c.*
        from :"schema"._join_change(p_join, settled > 0, was_pending) c;
end $$;
