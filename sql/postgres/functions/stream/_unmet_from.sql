-- Claimers have met all messages of streams that have a work id up to this one. f: the newest frontier of the streamed
-- lane. Messages that may come late (_come_past_streams) count if they are there. 0: not known, until claims have come
-- by after an upgrade or adopt().
create or replace function :"schema"._unmet_from(f :"schema".frontier) returns bigint
language plpgsql stable :hot as $$
declare
    known constant pg_snapshot := case when f.whole then f.target else f.base end;
    fence constant xid8 := case when f.whole then f.target_fence else f.base_fence end;
    low constant bigint := case when f.whole then f.target_low else f.base_low end;
begin
    if fence is null then
        return 0;
    end if;
    return least(low, (
        select min(late.work_id) - 1 from (
            select m.work_id from pg_snapshot_xip(known) x(xid) cross join lateral (
                select m.work_id from :"schema".message m
                where m.box = f.log_box and m.lane = 1 and m.era = f.era and m.xid = x.xid
                  and not :"schema"._is_behind(f, m.xid, m.work_id)
                order by m.xid, m.work_id limit 1) m
            union all
            (select m.work_id from :"schema".message m
             where m.box = f.log_box and m.lane = 1 and m.era = f.era and m.xid >= pg_snapshot_xmax(known) and m.xid < fence
               and not :"schema"._is_behind(f, m.xid, m.work_id)
             order by m.xid, m.work_id)) late));
end $$;
