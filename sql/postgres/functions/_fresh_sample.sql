-- Messages beyond the frontier, each with how many it stands for: all of them, or a sample of about `most`.
create or replace function :"schema"._fresh_sample(p_box smallint, most int)
returns table (work_id bigint, topic text, stream text, due_at timestamptz, created_at timestamptz,
               expires_at timestamptz, weight double precision)
language plpgsql stable rows 20000 :hot as $$
declare
    low bigint;
    met bigint;
begin
    select min(x.work_id), count(*) into low, met
    from (select f.work_id from :"schema"._fresh f where f.box = p_box limit most + 1) x;
    if met <= most then
        return query
            select f.work_id, f.topic::text, f.stream::text, f.due_at, f.created_at, f.expires_at, 1::double precision
            from :"schema"._fresh f where f.box = p_box;
        return;
    end if;
    return query
        select m.work_id, m.topic::text, m.stream::text, m.due_at, m.created_at, m.expires_at, s.weight
        from :"schema"._spread('message', low, most) s
        cross join lateral (select * from :"schema".message m where m.work_id = s.work_id offset 0) m
        cross join lateral (
            select * from :"schema".frontier x where x.box = m.box and x.lane = m.lane order by x.seq desc limit 1) f
        where m.box = p_box and m.era = f.era and not pg_visible_in_snapshot(m.xid, f.base)
          and not (pg_visible_in_snapshot(m.xid, f.target) and (m.xid, m.work_id) <= (f.position_xid, f.position_id))
          and not exists (select from :"schema".frontier_skip k where k.work_id = m.work_id);
end $$;
