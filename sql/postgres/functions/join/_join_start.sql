-- Starts a join under an id that the caller chose; one that exists is left alone. deadline_ms: from now,
-- 0 = none. A large one gets lanes to count in (_lock_join).
create or replace function :"schema"._join_start(
    p_join uuid, p_expected int, p_grouping text, p_metadata text, p_deadline timestamptz, deadline_ms bigint)
returns void language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    ends_at timestamptz := coalesce(p_deadline, ts + make_interval(secs => nullif(deadline_ms, 0) / 1000.0));
begin
    perform :"schema"._check_join(p_join, null, null);
    perform :"schema"._fault('', case   -- core/limits/join.c has the same rules for C callers
        when p_expected is null or p_expected < 1 then array['expected_steps', 'is out of range: give 1 to 2147483647']
        when char_length(p_grouping) > :grouping_key_max
            then array['grouping_key', 'is longer than :grouping_key_max characters']
        when not (ends_at >= '1970-01-01Z' and ends_at < '10000-01-01Z')
            then array['deadline', 'is out of range: give a time from 1970 to 9999']
        when octet_length(p_metadata) > :payload_always
             and not :"schema"._fits('metadata', octet_length(p_metadata), 'payload_bytes_max', 67108864) then null end);
    with started as (
        insert into :"schema".join_row as j (
            join_id, expected_steps, created_at, deadline, grouping_key, metadata, last_lane)
        values (p_join, p_expected, ts, ends_at, nullif(p_grouping, ''), p_metadata,
                case when p_expected >= 50000 then 4 else 0 end)
        on conflict (join_id) do nothing
        returning j.join_id, j.last_lane)
    insert into :"schema".join_progress (join_id, lane, seq, completed_steps, failed_steps, updated_at)
    select s.join_id, lane, 0, 0, 0, ts from started s, generate_series(0, s.last_lane) lane;
end $$;
