-- Messages without a trace: neither parked, leased, dead nor finished, and not fresh either. There should be none.
-- every: whatever the frontier says, for a store whose transaction ids are foreign.
create or replace function :"schema"._lost_ids(p_box smallint, every boolean) returns bigint[]
language plpgsql stable :pinned set enable_nestloop = off as $$
declare
    plain :"schema".frontier := :"schema"._newest_frontier(p_box, 0::smallint);
    streamed :"schema".frontier := :"schema"._newest_frontier(p_box, 1::smallint);
begin
    return array(
        select m.work_id from :"schema".message m left join :"schema".stream s on s.box = m.box and s.key = m.stream
        where m.box = p_box
          and (every or m.era <> plain.era or case m.lane when 0 then :"schema"._is_behind(plain, m.xid, m.work_id)
                                               when 1 then :"schema"._is_behind(streamed, m.xid, m.work_id) and coalesce(m.work_id <= s.position, true)
                                               else true end)
          and not (m.lane = 0 and m.work_id in (select :"schema"._ids(p.items) from :"schema".pool p))
          and not exists (select from :"schema".parked p where p.work_id = m.work_id)
          and not exists (select from :"schema".dead d where d.work_id = m.work_id)
          and not exists (select from (select :"schema"._ids(l.items) as id from :"schema".lease l) l
                          where l.id = m.work_id)
          and not exists (select from (select generate_series(f.first_id, f.last_id) as id
                                       from :"schema".finished f) f
                          where f.id = m.work_id)
        order by m.work_id);
end $$;
