-- Puts messages that are nowhere else into the parking lot, ready at once: dead letters that are replayed, lost
-- messages that are repaired, leftovers of a restored store. Claimers look for the heads of their streams again, and a
-- stream that was halted by one of these messages goes on.
create or replace function :"schema"._unbury(p_box smallint, ids bigint[], keep_expiry boolean, ts timestamptz)
returns void language plpgsql volatile :pinned as $$
declare
    waits text := :"schema"._wait_topic();
    keys text[];
begin
    insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream, crash_count)
    select m.work_id, p_box, greatest(m.due_at, ts), case when keep_expiry then m.expires_at end, m.topic, m.stream,
           -(p_box = 0 and m.stream is null and m.topic = waits)::int
    from :"schema".message m where m.work_id = any (ids) order by m.work_id;
    perform :"schema"._end_quiet(p_box);
    select array_agg(distinct m.stream) into keys
    from :"schema".message m where m.work_id = any (ids) and m.stream is not null;
    if keys is null then
        return;
    end if;
    perform :"schema"._requeue_streams(p_box, keys, ids, ts);
end $$;
