-- Messages that no claimer has yet, in the pool, in streams and beyond the frontier, each with the number that it
-- stands for: all of them, or a sample of about `most`. Those beyond the frontier are met as claimers will meet them,
-- from the position on (_window), so done messages cost nothing: first those of the frontier's window, then all others,
-- including those of the caller's own transaction.
create or replace function :"schema"._fresh_sample(p_box smallint, most int)
returns table (work_id bigint, topic text, stream text, due_at timestamptz, created_at timestamptz,
               expires_at timestamptz, weight double precision)
language plpgsql stable rows 20000 :hot as $$
#variable_conflict use_column
declare
    look :"schema".frontier;
    ids bigint[] := '{}'::bigint[];      -- beyond the frontier
    pooled bigint[] := array(
        select i from :"schema".pool p, :"schema"._ids(p.items) i where p.box = p_box limit most + 1);
    pool_rows bigint;
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    for lane in 0 .. 1 loop
        look := :"schema"._frontier(p_box, lane::smallint);
        ids := ids || array(
            select w.work_id from :"schema"._window(look, most + 1) w
            where w.reads and (lane = 0 or coalesce(w.xid < look.base_fence, true) or not exists (   -- taken from the log
                select from :"schema".stream s where s.box = p_box and s.key = w.stream and s.position >= w.work_id)));
        if lane = 1 then   -- messages that claimers came past and left in the log
            ids := ids || array(
                select m.work_id from :"schema".stream s cross join lateral (
                    select m.work_id from :"schema".message m
                    where m.box = look.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key
                      and m.work_id > s.position and m.era = look.era
                      and :"schema"._is_behind(look, m.xid, m.work_id)
                      and :"schema"._reads(look.choosy, look.in_exact, look.in_prefixes, look.but_exact, look.but_prefixes, look.from_time, look.from_id,
                             m.topic, m.created_at, m.work_id)
                      and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
                    order by m.stream, m.work_id limit most + 1) m
                where s.box = p_box limit most + 1);
        end if;
        look := :"schema"._next_window(look, '9223372036854775807:9223372036854775807:');   -- everything that is committed
        ids := ids || array(select w.work_id from :"schema"._window(look, most + 1) w where w.reads);
    end loop;
    if cardinality(pooled) > most then
        select count(*) into pool_rows from :"schema".pool p where p.box = p_box;
        return query
            select m.work_id, p.topic::text, null::text, null::timestamptz, m.created_at, null::timestamptz, p.size * greatest(pool_rows::double precision / most, 1)
            from (select p.topic, p.size, lower(p.items) as first_id from :"schema".pool p where p.box = p_box limit most) p
            cross join lateral (select * from :"schema".message m where m.work_id = p.first_id limit 1) m;
        pooled := '{}';
    end if;
    if cardinality(ids) > most then
        return query
            select m.work_id, m.topic::text, m.stream::text, m.due_at, m.created_at, m.expires_at, s.weight
            from :"schema"._spread('message', (select min(i) from unnest(ids) i), most) s
            cross join lateral (select * from :"schema".message m where m.work_id = s.work_id offset 0) m
            cross join lateral (
                select * from :"schema".frontier x where x.box = p_box and x.lane = m.lane order by x.seq desc limit 1) f
            left join lateral (
                select t.position from :"schema".stream t where m.lane = 1 and t.box = p_box and t.key = m.stream limit 1) t on true
            where m.box = f.log_box and m.era = f.era
              and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                     m.topic, m.created_at, m.work_id)
              and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
              and (m.work_id > t.position or not pg_visible_in_snapshot(m.xid, f.base)
                   and not (pg_visible_in_snapshot(m.xid, f.target) and (
                        (m.xid, m.work_id) <= (f.position_xid, f.position_id)
                        or coalesce(m.xid >= f.base_fence, false) and m.work_id <= t.position)));
        ids := '{}';
    end if;
    return query
        select m.work_id, m.topic::text, m.stream::text, m.due_at, m.created_at, m.expires_at, 1::double precision
        from unnest(ids || pooled) i cross join lateral (
            select * from :"schema".message m where m.work_id = i and m.lane < 2 limit 1) m;
end $$;
