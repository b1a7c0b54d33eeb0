-- Messages that no claimer of a reader has yet: beyond its frontier, in its pool, or after the position of their stream. A row
-- for each reader that wants the message. (The condition on f is that of _reads, which callers of a view may not call. A
-- message that was claimed or buried before any claimer met it is in lane 2, or in reader_skip, and the pool may still have
-- its number.)
create or replace view :"schema"._fresh as
with f as (
    select x.* from :"schema".reader r cross join (values (0), (1)) v(lane)
    cross join lateral (
        select * from :"schema".frontier x where x.box = r.number and x.lane = v.lane
        order by x.seq desc limit 1) x)
select m.*, f.box as reader from f join :"schema".message m
  on m.box = f.log_box and m.lane = f.lane and m.era = f.era and m.xid >= pg_snapshot_xmax(f.base)
where (not f.choosy or (f.in_exact is null and f.in_prefixes is null or coalesce(m.topic = any (f.in_exact), false)
         or coalesce(m.topic ^@ any (f.in_prefixes), false))
        and not coalesce(m.topic = any (f.but_exact), false) and not coalesce(m.topic ^@ any (f.but_prefixes), false)
        and coalesce(m.created_at >= f.from_time, true) and coalesce(m.work_id >= f.from_id, true))
  and not exists (select from :"schema".reader_skip k where k.box = f.box and k.work_id = m.work_id)
  and not (pg_visible_in_snapshot(m.xid, f.target) and ((m.xid, m.work_id) <= (f.position_xid, f.position_id)
           or f.lane = 1 and coalesce(m.xid >= f.base_fence, false) and exists (   -- taken from the log
               select from :"schema".stream s where s.box = f.box and s.key = m.stream and s.position >= m.work_id)))
union all
select m.*, f.box from f cross join lateral pg_snapshot_xip(f.base) late(xid) join :"schema".message m
  on m.box = f.log_box and m.lane = f.lane and m.era = f.era and m.xid = late.xid
where (not f.choosy or (f.in_exact is null and f.in_prefixes is null or coalesce(m.topic = any (f.in_exact), false)
         or coalesce(m.topic ^@ any (f.in_prefixes), false))
        and not coalesce(m.topic = any (f.but_exact), false) and not coalesce(m.topic ^@ any (f.but_prefixes), false)
        and coalesce(m.created_at >= f.from_time, true) and coalesce(m.work_id >= f.from_id, true))
  and not exists (select from :"schema".reader_skip k where k.box = f.box and k.work_id = m.work_id)
  and not (pg_visible_in_snapshot(m.xid, f.target) and ((m.xid, m.work_id) <= (f.position_xid, f.position_id)
           or f.lane = 1 and coalesce(m.xid >= f.base_fence, false) and exists (   -- taken from the log
               select from :"schema".stream s where s.box = f.box and s.key = m.stream and s.position >= m.work_id)))
union all
select m.*, p.box from :"schema".pool p cross join lateral :"schema"._ids(p.items) i(work_id)
join :"schema".message m on m.work_id = i.work_id
where m.lane = 0 and not exists (select from :"schema".reader_skip k where k.box = p.box and k.work_id = m.work_id)
union all
select m.*, f.box from f join :"schema".stream s on s.box = f.box join :"schema".message m
  on m.box = f.log_box and m.lane = 1 and m.stream = s.key and m.era = f.era and m.work_id > s.position
where f.lane = 1
  and (not f.choosy or (f.in_exact is null and f.in_prefixes is null or coalesce(m.topic = any (f.in_exact), false)
         or coalesce(m.topic ^@ any (f.in_prefixes), false))
        and not coalesce(m.topic = any (f.but_exact), false) and not coalesce(m.topic ^@ any (f.but_prefixes), false)
        and coalesce(m.created_at >= f.from_time, true) and coalesce(m.work_id >= f.from_id, true))
  and not exists (select from :"schema".reader_skip k where k.box = f.box and k.work_id = m.work_id)
  and (pg_visible_in_snapshot(m.xid, f.base)
       or pg_visible_in_snapshot(m.xid, f.target) and (m.xid, m.work_id) <= (f.position_xid, f.position_id));
