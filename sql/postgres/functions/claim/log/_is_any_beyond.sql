-- Is there a message that the frontier has not passed (_is_behind)? This looks into a few index ranges, mostly empty
-- ones: all after the position, and the messages of each transaction that was still running in base or in target. f may
-- be old: then messages that other claimers have passed since count as well.
create or replace function :"schema"._is_any_beyond(f :"schema".frontier) returns boolean
language plpgsql stable as $$
declare
    base_end constant xid8 := pg_snapshot_xmax(f.base);
    is_past constant boolean := f.position_xid >= base_end;
    from_xid constant xid8 := case when is_past then f.position_xid else base_end end;
    from_id constant bigint := case when is_past then f.position_id else -1 end;
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    return exists (
            select from :"schema".message m
            where m.box = f.log_box and m.lane = f.lane and m.era = f.era and (m.xid, m.work_id) > (from_xid, from_id)
              and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
            order by m.xid, m.work_id limit 1)
        or pg_snapshot_xmin(f.target) <> pg_snapshot_xmax(f.target) and exists (
            select from pg_snapshot_xip(f.target) x(xid) cross join lateral (
                select from :"schema".message m where m.box = f.log_box and m.lane = f.lane and m.era = f.era and m.xid = x.xid
                  and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
                order by m.xid, m.work_id limit 1) m)
        or not is_past and pg_snapshot_xmin(f.base) <> base_end and exists (
            select from pg_snapshot_xip(f.base) x(xid) cross join lateral (
                select from :"schema".message m where m.box = f.log_box and m.lane = f.lane and m.era = f.era and m.xid = x.xid
                  and (m.xid, m.work_id) > (f.position_xid, f.position_id)
                  and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
                order by m.xid, m.work_id limit 1) m);
end $$;
