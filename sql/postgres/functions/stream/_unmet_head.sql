-- The first message of a stream that has no row in `stream`: one row, or none if all are done. low: see _unmet_from.
create or replace function :"schema"._unmet_head(f :"schema".frontier, low bigint, p_key text) returns table (work_id bigint)
language sql stable rows 1 as $$
    select m.work_id from :"schema".message m
    where m.box = f.box and m.lane = 1 and m.stream >= p_key and m.stream <= p_key and m.work_id > low
      and m.era = f.era and not :"schema"._is_behind(f, m.xid, m.work_id)
    order by m.stream, m.work_id limit 1
$$;
