-- Counts a step by hand. BX002: no such join, or no such member; BX003: the join has ended without it.
-- The first outcome wins: later ones count nothing.
create or replace function :"schema"._join_report(p_join uuid, p_message uuid, p_outcome smallint)
returns table (counted boolean, ended boolean, expected_steps int, completed_steps int, failed_steps int,
               status text, reason text)
language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz;
    j :"schema".join_row;
    member_status smallint;
    member_work_id bigint;
    is_member boolean;
    last_seq bigint;
begin
    perform :"schema"._check_join(p_join, 'message_id', array[p_message]);
    if p_outcome is null or p_outcome not in (1, 2) then
        perform :"schema"._invalid('outcome', 'must be 1 (completed) or 2 (failed)');
    end if;
    -- If the message is being enqueued right now, that transaction writes the work id: this waits for it before it
    -- locks the join.
    select m.work_id into member_work_id from :"schema".join_member m
    where m.join_id = p_join and m.message_id = p_message;
    is_member := found;
    if member_work_id is null then
        perform from :"schema".join_member m where m.join_id = p_join and m.message_id = p_message for update;
    end if;
    select * into j from :"schema".join_row x where x.join_id = p_join for no key update;
    if not found then
        raise exception using errcode = 'BX002', message = 'there is no join ' || p_join;
    end if;
    perform :"schema"._lock_lanes(p_join);
    ts := clock_timestamp();   -- not before this transaction had the join
    if not is_member then
        raise exception using errcode = 'BX002',
            message = format('message %s is not a member of join %s: attach it first', p_message, p_join);
    end if;
    select m.status, m.work_id into member_status, member_work_id from :"schema"._join_member m
    where m.join_id = p_join and m.message_id = p_message;
    if member_status = 0 then
        perform :"schema"._check_pending(j, ts);
        if member_work_id is null then
            update :"schema".join_member m set status = p_outcome where m.join_id = p_join and m.message_id = p_message;
        else
            insert into :"schema".join_outcome (join_id, first_id, last_id, status)
            values (p_join, member_work_id, member_work_id, p_outcome);
        end if;
        select p.seq into last_seq from :"schema".join_progress p
        where p.join_id = p_join and p.lane = 0 order by p.seq desc limit 1;
        update :"schema".join_progress p
        set seq = p.seq + 1, completed_steps = p.completed_steps + (p_outcome = 1)::int,
            failed_steps = p.failed_steps + (p_outcome = 2)::int, updated_at = greatest(p.updated_at, ts)
        where p.join_id = p_join and p.lane = 0 and p.seq = last_seq;
        if exists (select from :"schema".outbox_join v
                   where v.join_id = p_join and v.completed_steps + v.failed_steps >= v.expected_steps) then
            perform :"schema"._end_joins(array[p_join], null, null, ts);
        end if;
    end if;
    return query select * from :"schema"._join_change(p_join, member_status = 0, j.status = 0);
end $$;
