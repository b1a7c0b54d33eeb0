-- The newest row of the events' frontier. When its window is used up, this is the next window, up to now, as it would
-- be. _snapshot counts this transaction as running: its events get positions when it has committed.
create or replace function :"schema"._event_frontier() returns :"schema".event_frontier
language plpgsql volatile :hot as $$
declare
    f :"schema".event_frontier;
begin
    select * into strict f from :"schema".event_frontier x order by x.seq desc limit 1;
    if not f.is_open then
        f.base := f.target;
        f.base_low := f.target_low;
        f.base_xid := f.target_xid;
        f.target := :"schema"._snapshot();
        -- Read after the snapshot: every event that the snapshot sees has drawn its number by now.
        f.window_end := coalesce(pg_sequence_last_value(':"schema".event_row_event_no_seq'), 0);
        f.done_id := 0;
    end if;
    return f;
end $$;
