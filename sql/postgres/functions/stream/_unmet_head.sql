-- The first message of a stream that has no row in `stream`: one row, or none if all are done. low: see _unmet_from.
create or replace function :"schema"._unmet_head(f :"schema".frontier, low bigint, p_key text) returns table (work_id bigint)
language sql stable rows 1 as $$
    select m.work_id from :"schema".message m
    where m.box = f.log_box and m.lane = 1 and m.stream >= p_key and m.stream <= p_key and m.work_id > low
      and m.era = f.era and not :"schema"._is_behind(f, m.xid, m.work_id)
      and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                           m.topic, m.created_at, m.work_id)
    order by m.stream, m.work_id limit 1
$$;
