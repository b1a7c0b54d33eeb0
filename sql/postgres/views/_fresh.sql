-- Messages that no claimer has yet: beyond the frontier, in the pool, or after the position of their stream. (A message
-- that was claimed or buried before any claimer met it is in lane 2, and the pool may still have its number.)
create or replace view :"schema"._fresh as
with f as (
    select x.* from (values (0, 0), (0, 1), (1, 0), (1, 1)) v(box, lane)
    cross join lateral (
        select * from :"schema".frontier x where x.box = v.box and x.lane = v.lane
        order by x.seq desc limit 1) x)
select m.* from f join :"schema".message m
  on m.box = f.box and m.lane = f.lane and m.era = f.era and m.xid >= pg_snapshot_xmax(f.base)
where not (pg_visible_in_snapshot(m.xid, f.target) and ((m.xid, m.work_id) <= (f.position_xid, f.position_id)
           or f.lane = 1 and coalesce(m.xid >= f.base_fence, false) and exists (   -- taken from the log
               select from :"schema".stream s where s.box = f.box and s.key = m.stream and s.position >= m.work_id)))
union all
select m.* from f cross join lateral pg_snapshot_xip(f.base) late(xid) join :"schema".message m
  on m.box = f.box and m.lane = f.lane and m.era = f.era and m.xid = late.xid
where not (pg_visible_in_snapshot(m.xid, f.target) and ((m.xid, m.work_id) <= (f.position_xid, f.position_id)
           or f.lane = 1 and coalesce(m.xid >= f.base_fence, false) and exists (   -- taken from the log
               select from :"schema".stream s where s.box = f.box and s.key = m.stream and s.position >= m.work_id)))
union all
select m.* from :"schema".pool p cross join lateral :"schema"._ids(p.items) i(work_id)
join :"schema".message m on m.work_id = i.work_id where m.lane = 0
union all
select m.* from f join :"schema".stream s on s.box = f.box join :"schema".message m
  on m.box = f.box and m.lane = 1 and m.stream = s.key and m.era = f.era and m.work_id > s.position
where f.lane = 1
  and (pg_visible_in_snapshot(m.xid, f.base)
       or pg_visible_in_snapshot(m.xid, f.target) and (m.xid, m.work_id) <= (f.position_xid, f.position_id));
