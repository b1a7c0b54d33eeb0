-- Schedules by topic and work key; p_topic null: all.
create or replace function :"schema"._schedules(p_topic text, p_work_key text)
returns table (topic text, work_key text, every_ms bigint, jitter_ms bigint, shards int, then_topic text, else_topic text,
               created_at timestamptz, paused_at timestamptz, open_slices int, next_due_at timestamptz)
language plpgsql stable security definer :pinned as $$
#variable_conflict use_column
begin
    return query
        select s.topic::text, s.work_key::text, s.every_ms, s.jitter_ms, s.shards, s.then_topic, s.else_topic, s.created_at, s.paused_at,
               x.open::int, x.next
        from :"schema".schedule_row s cross join lateral (
            select count(*) filter (where y.due_at is null) as open, min(y.due_at) as next
            from :"schema".schedule_shard y where y.id = s.id) x
        where p_topic is null or s.topic = p_topic and s.work_key = p_work_key
        order by s.topic, s.work_key;
end $$;
