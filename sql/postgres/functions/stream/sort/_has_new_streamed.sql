-- Are there messages of streams that are not visible in base? Claimers have to come past them (_come_past_streams).
-- Transactions that were running in base are looked up one by one: most of them write no message of a stream. Messages
-- of a transaction that still runs are found once it has committed. f: the newest frontier of the streamed lane.
create or replace function :"schema"._has_new_streamed(f :"schema".frontier) returns boolean
language plpgsql stable as $$
begin
    return exists (select from :"schema".message m
                   where m.box = f.log_box and m.lane = 1 and m.era = f.era and m.xid >= pg_snapshot_xmax(f.base))
        or pg_snapshot_xmin(f.base) <> pg_snapshot_xmax(f.base) and exists (
            select from pg_snapshot_xip(f.base) x(xid) cross join lateral (
                select from :"schema".message m where m.box = f.log_box and m.lane = 1 and m.era = f.era and m.xid = x.xid
                order by m.xid, m.work_id limit 1) m);
end $$;
