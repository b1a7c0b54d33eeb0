-- The newest slice of each shard of a schedule.
create or replace function :"schema"._schedule_slices(p_topic text, p_work_key text)
returns table (shard int, slice bigint, message_id uuid, tries int, enqueued_at timestamptz, completed_at timestamptz, due_at timestamptz)
language plpgsql stable security definer :pinned as $$
#variable_conflict use_column
begin
    return query
        select x.shard, x.slice, x.message_id, x.tries, x.enqueued_at, x.completed_at, x.due_at
        from :"schema".schedule_row s join :"schema".schedule_shard x on x.id = s.id
        where s.topic = p_topic and s.work_key = p_work_key order by x.shard;
end $$;
