-- Messages beyond the frontier, each with how many it stands for: all of them, or a sample of about `most`. They are met as
-- claimers will meet them, from the position on (_window), so what is done costs nothing: first those of the frontier's
-- window, then all others, those of the caller's own transaction as well.
create or replace function :"schema"._fresh_sample(p_box smallint, most int)
returns table (work_id bigint, topic text, stream text, due_at timestamptz, created_at timestamptz,
               expires_at timestamptz, weight double precision)
language plpgsql stable rows 20000 :hot as $$
declare
    look :"schema".frontier;
    ids bigint[] := '{}';
begin
    for lane in 0 .. 1 loop
        look := :"schema"._frontier(p_box, lane::smallint);
        ids := ids || array(select w.work_id from :"schema"._window(look, most + 1) w);
        look.base := look.target;
        look.target := '9223372036854775807:9223372036854775807:';   -- everything that is committed
        look.position_xid := '0';
        look.position_id := 0;
        ids := ids || array(select w.work_id from :"schema"._window(look, most + 1) w);
    end loop;
    if cardinality(ids) <= most then
        return query
            select m.work_id, m.topic::text, m.stream::text, m.due_at, m.created_at, m.expires_at, 1::double precision
            from unnest(ids) i cross join lateral (select * from :"schema".message m where m.work_id = i limit 1) m
            where not exists (select from :"schema".frontier_skip k where k.work_id = m.work_id);
        return;
    end if;
    return query
        select m.work_id, m.topic::text, m.stream::text, m.due_at, m.created_at, m.expires_at, s.weight
        from :"schema"._spread('message', (select min(i) from unnest(ids) i), most) s
        cross join lateral (select * from :"schema".message m where m.work_id = s.work_id offset 0) m
        cross join lateral (
            select * from :"schema".frontier x where x.box = m.box and x.lane = m.lane order by x.seq desc limit 1) f
        where m.box = p_box and m.era = f.era and not pg_visible_in_snapshot(m.xid, f.base)
          and not (pg_visible_in_snapshot(m.xid, f.target) and (m.xid, m.work_id) <= (f.position_xid, f.position_id))
          and not exists (select from :"schema".frontier_skip k where k.work_id = m.work_id);
end $$;
