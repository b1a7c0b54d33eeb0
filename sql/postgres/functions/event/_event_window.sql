-- The next events of the window in the order of their numbers, at most wanted: visible in target, not in base, behind
-- done_id. The cost grows with what it returns, however large the window is.
--
-- An event that base did not see is of one of two kinds of transaction. Either its number is above base_xid: then its
-- event numbers all lie above base_low. Or it is one of the few that had begun and not ended when base was taken:
-- base's running ones, and everything from base's end to base_xid (a snapshot ends at the last transaction that had
-- ended, and others may have begun behind it). Events of such a late transaction up to base_low are looked up by their
-- transaction; everything else is a range of numbers.
create or replace function :"schema"._event_window(f :"schema".event_frontier, wanted int) returns setof bigint
language plpgsql stable rows 1000 :hot as $$
declare
    late xid8[];
    found_late int := 0;
begin
    if f.done_id < f.base_low then
        late := array(
            select x from (
                select pg_snapshot_xip(f.base) as x
                union
                select n::text::xid8 from generate_series(pg_snapshot_xmax(f.base)::text::bigint,
                                                          f.base_xid::text::bigint) n) l
            where pg_visible_in_snapshot(l.x, f.target));
        if cardinality(late) > 0 then
            return query
                select e.event_no from unnest(late) l(xid) cross join lateral (
                    select e.event_no from :"schema".event_row e
                    where e.xid = l.xid and e.event_no > greatest(f.done_id, f.era_id) and e.event_no <= f.base_low
                    order by e.event_no limit wanted) e
                order by e.event_no limit wanted;
            get diagnostics found_late = row_count;
        end if;
    end if;
    if found_late < wanted and f.window_end > greatest(f.done_id, f.base_low) then
        return query
            select e.event_no from :"schema".event_row e
            where e.event_no > greatest(f.done_id, f.base_low) and e.event_no <= f.window_end
              and pg_visible_in_snapshot(e.xid, f.target) and not pg_visible_in_snapshot(e.xid, f.base)
            order by e.event_no limit wanted - found_late;
    end if;
end $$;
