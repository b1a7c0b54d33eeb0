-- Buries messages that were stored before the table checked them (version 10) and that no claimer has met: a topic or
-- a stream that is too long for an index would make every claim fail that meets it. Each is a dead letter then, whose
-- last error says what is wrong with it. Called once, after an upgrade. Returns how many there were.
create or replace function :"schema"._bury_malformed() returns bigint
language plpgsql volatile security definer :pinned as $$
declare
    ts timestamptz := clock_timestamp();
    total bigint := 0;
    bad record;
begin
    for bad in
        select m.box, m.lane, array_agg(m.work_id order by m.work_id) as ids
        from :"schema"._fresh m
        where char_length(m.topic) > 255 or char_length(m.stream) > 255
        group by m.box, m.lane order by m.box, m.lane
    loop
        perform :"schema"._bury_fresh(bad.box, bad.lane, bad.ids, 5::smallint, 'cancelled',
                                 'its topic or its stream is longer than 255 characters', '-infinity', ts);
        total := total + cardinality(bad.ids);
    end loop;
    return total;
end $$;
