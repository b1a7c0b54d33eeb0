-- Parks messages of the plain lane that a claimer has come past and that are not ready, or expire. Says whether one of
-- them has expired.
create or replace function :"schema"._park_fresh(p_box smallint, ids bigint[], ts timestamptz) returns boolean
language plpgsql volatile as $$
declare
    waits constant text := case p_box when 0 then :"schema"._wait_topic() end;
begin
    insert into :"schema".parked (work_id, box, available_at, expires_at, topic, crash_count)
    select m.work_id, p_box, greatest(m.due_at, ts), m.expires_at, m.topic, case when m.topic = waits then -1 else 0 end
    from unnest(ids) i cross join lateral (
        select m.work_id, m.due_at, m.expires_at, m.topic from :"schema".message m where m.work_id = i limit 1) m;
    return exists (select from :"schema".message m where m.work_id = any (ids) and m.expires_at <= ts);
end $$;
