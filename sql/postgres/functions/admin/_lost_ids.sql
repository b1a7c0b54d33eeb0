-- Messages without a trace: neither parked, leased, dead nor finished, and not fresh either. There should be none.
-- every: whatever the frontier says, for a store whose transaction ids are foreign. What the reader did not want when it came past
-- is not lost.
create or replace function :"schema"._lost_ids(p_box smallint, every boolean) returns bigint[]
language plpgsql stable :pinned set enable_nestloop = off as $$
declare
    plain :"schema".frontier := :"schema"._newest_frontier(p_box, 0::smallint);
    streamed :"schema".frontier := :"schema"._newest_frontier(p_box, 1::smallint);
begin
    return array(
        select x.work_id from (
            select m.* from :"schema".message m left join :"schema".stream s on s.box = p_box and s.key = m.stream
        where m.box = plain.log_box
          and (every or m.era <> plain.era or case m.lane when 0 then :"schema"._is_behind(plain, m.xid, m.work_id)
                                               when 1 then :"schema"._is_behind(streamed, m.xid, m.work_id) and coalesce(m.work_id <= s.position, true)
                                               else true end)
          and not (m.lane = 0 and m.work_id in (select :"schema"._ids(p.items) from :"schema".pool p where p.box = p_box))
          and not exists (select from :"schema".parked p where p.work_id = m.work_id and p.box = p_box)
          and not exists (select from :"schema".dead d where d.work_id = m.work_id and d.box = p_box)
          and not exists (select from (select :"schema"._ids(l.items) as id from :"schema".lease l where l.box = p_box) l
                          where l.id = m.work_id)
          and not exists (select from (select generate_series(f.first_id, f.last_id) as id
                                       from :"schema".finished f where f.box = p_box) f
                          where f.id = m.work_id)
        offset 0) x
        where pg_sequence_last_value(':"schema".reader_number') is null
           or :"schema"._wants(p_box, x.lane, x.era, x.xid, x.topic, x.created_at, x.work_id)
        order by x.work_id);
end $$;
