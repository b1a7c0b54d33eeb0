-- Enqueues a message that waits for a join, after bringing the join up to date. BX002: no such join. An id
-- that exists changes nothing, as everywhere. It is parked at once (see 0010), where the end of the join finds it; if the
-- join has ended already, it is evaluated now.
create or replace function :"schema"._join_wait(
    p_join uuid, p_message uuid, p_payload text, p_correlation text, p_attempts int,
    p_causation text default null)
returns table (work_id bigint, message_id uuid, duplicate boolean, counted boolean, ended boolean,
               expected_steps int, completed_steps int, failed_steps int, status text, reason text)
language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    topic constant text := :"schema"._wait_topic();
    was_pending boolean;
    settled bigint;
    fault text;
    wait :"schema".enqueue_result;
begin
    perform :"schema"._check_join(p_join, 'message_id', array[p_message]);
    -- The end of the join will read the payload, so a payload that cannot be read is refused here. (Its size is checked
    -- below.)
    if octet_length(p_payload) <= :"schema"._setting('payload_bytes_max', 67108864) then
        select coalesce(w.fault, case when w.join_id <> p_join then 'it names another join' end)
        into fault from :"schema"._read_wait(p_payload) w;
        if fault is not null then
            perform :"schema"._invalid('payload', 'is wrong: ' || fault);
        end if;
    end if;
    select j.status = 0 into was_pending from :"schema".join_row j where j.join_id = p_join for no key update;
    if not found then
        raise exception using errcode = 'BX002', message = 'there is no join ' || p_join;
    end if;
    perform :"schema"._lock_lanes(p_join);
    select s.counted into settled from :"schema"._settle_joins(array[p_join], ts) s;
    perform :"schema"._refuse_message(0::smallint, p_message, topic, p_payload, null, p_correlation, null, null, null,
                                      null, p_attempts, p_causation);
    insert into :"schema".message (message_id, box, lane, max_attempts, created_at, topic, payload, correlation_id, causation_id)
    values (p_message, 0, 2, p_attempts, ts, topic, p_payload, p_correlation, p_causation)
    on conflict (message_id) do nothing
    returning work_id, message_id, false into wait;
    if wait.work_id is null then
        select m.work_id, m.message_id, true into wait from :"schema".message m where m.message_id = p_message;
    else
        perform :"schema"._resolve_members(array[p_message], array[wait.work_id]);
        insert into :"schema".parked (work_id, box, available_at, topic, crash_count)
        values (wait.work_id, 0, ts, topic, -1);
        insert into :"schema".join_wait (join_id, work_id) values (p_join, wait.work_id);
        perform :"schema"._follow_joins(array[p_join], ts)
        from :"schema".join_row j where j.join_id = p_join and j.status <> 0;
    end if;
    return query
        select wait.work_id, wait.message_id, wait.duplicate, c.*
        from :"schema"._join_change(p_join, settled > 0, was_pending) c;
end $$;
