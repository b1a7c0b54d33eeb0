-- The part of adopt that is about events: each event without a position gets one, in the order of numbers, and the
-- frontier starts from here. The lock waits for all writers, so that no event is left between the servers' transaction
-- ids. Events without a position are those between the runs.
create or replace function :"schema"._adopt_events() returns void
language plpgsql volatile :pinned as $$
declare
    numbers constant regclass := ':"schema".event_row_event_no_seq';
    f :"schema".event_frontier;
    ids bigint[];
    highest bigint;
begin
    lock table :"schema".event_row in share row exclusive mode;
    lock table :"schema".event_turn in share update exclusive mode;
    select * into strict f from :"schema".event_frontier x order by x.seq desc limit 1;
    select coalesce(max(r.first_position + r.last_id - r.first_id), 0) + 1 into f.next_position
    from (select * from :"schema".event_run x order by x.first_position desc limit 1) r;
    ids := array(
        select e.event_no from (
            select coalesce(lag(r.last_id) over (order by r.first_id), 0) + 1 as low, r.first_id - 1 as high
            from :"schema".event_run r
            union all
            select coalesce(max(r.last_id), 0) + 1, 9223372036854775807 from :"schema".event_run r) gap
        cross join lateral (
            select e.event_no from :"schema".event_row e where e.event_no between gap.low and gap.high offset 0) e
        where gap.low <= gap.high order by e.event_no);
    insert into :"schema".event_run (first_position, first_id, last_id)
    select f.next_position + min(i.n) - 1, min(i.id), max(i.id)
    from unnest(ids) with ordinality i(id, n) group by i.id - i.n;
    highest := greatest((select max(e.event_no) from :"schema".event_row e), pg_sequence_last_value(numbers), 0);
    if highest > 0 then
        perform setval(numbers, highest);
    end if;
    f.seq := f.seq + 1;
    f.base := :"schema"._snapshot();
    f.target := f.base;
    f.base_low := highest;
    f.target_low := highest;
    f.base_xid := pg_current_xact_id();
    f.target_xid := f.base_xid;
    f.window_end := highest;
    f.is_open := false;
    f.done_id := 0;
    f.era_id := highest;
    f.next_position := f.next_position + cardinality(ids);
    insert into :"schema".event_frontier select f.*;
end $$;
