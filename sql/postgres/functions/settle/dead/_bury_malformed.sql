-- Buries messages that were stored before the table checked them (version 10) and that no claimer has met: a topic or a
-- stream that is too long for an index would make every claim fail that meets it. Each is cut off; its message becomes
-- a dead letter whose last error tells the fault. Every deployment calls this: the first that comes to the end reads
-- the whole log, and the others do nothing. Returns how many there were.
create or replace function :"schema"._bury_malformed() returns bigint
language plpgsql volatile security definer :pinned as $$
declare
    ts timestamptz := clock_timestamp();
    total bigint := 0;
    bad record;
begin
    if (select s.are_old_messages_checked from :"schema".store s) then
        return 0;
    end if;
    for bad in
        select m.reader, m.lane, array_agg(m.work_id order by m.work_id) as ids
        from :"schema"._fresh m
        where char_length(m.topic) > :topic_max or char_length(m.stream) > :stream_max
        group by m.reader, m.lane order by m.reader, m.lane
    loop
        -- The table accepts no change of a row that it would refuse.
        update :"schema".message m set topic = left(m.topic, :topic_max), stream = left(m.stream, :stream_max)
        where m.work_id = any (bad.ids);
        perform :"schema"._bury_fresh(bad.reader, bad.lane, bad.ids, 5::smallint, 'cancelled',
                                 'its topic or its stream is longer than :topic_max characters', '-infinity', ts);
        total := total + cardinality(bad.ids);
    end loop;
    update :"schema".store s set are_old_messages_checked = true;
    return total;
end $$;
