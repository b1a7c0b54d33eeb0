-- Locks messages in the pool, for a claim inside somebody's transaction; says in which rows they are. Messages that somebody
-- else has locked are passed over, and so are rows whose messages another open transaction holds. Our own locks do not
-- stop us: what an earlier claim of this transaction took is known by the number that its lock has. topics null: all.
create or replace function :"schema"._lock_pooled(f :"schema".frontier, wanted int, topics text[])
returns table (work_id bigint, place bigint) language plpgsql volatile as $$
#variable_conflict use_column
begin
    if topics is null then
        return query
            select m.work_id, p.place
            from (select p.place, p.items from :"schema".pool p
                  where p.box = f.box and p.place >= f.pool_from
                    and (p.holder is null or not p.to_park and not :"schema"._is_running(p.holder))
                  order by p.box, p.place) p
            cross join lateral :"schema"._ids(p.items) i
            join :"schema".message m on m.work_id = i
            where m.lane = 0 and (m.xmax = 0 or not :"schema"._is_running(:"schema"._full_xid(m.xmax)))
            limit wanted for update of m skip locked;
        return;
    end if;
    return query
        select m.work_id, p.place
        from (select p.* from unnest(topics) t(topic) cross join lateral (
                  select p.place, p.items from :"schema".pool p
                  where p.box = f.box and p.topic = t.topic collate "C" and p.place >= f.pool_from and p.holder is null
                  order by p.topic, p.place) p
              union all
              select p.place, p.items from :"schema".pool p
              where p.box = f.box and p.holder is not null and p.topic = any (topics) and not p.to_park
                and not :"schema"._is_running(p.holder)) p
        cross join lateral :"schema"._ids(p.items) i
        join :"schema".message m on m.work_id = i
        where m.lane = 0 and (m.xmax = 0 or not :"schema"._is_running(:"schema"._full_xid(m.xmax)))
        limit wanted for update of m skip locked;
end $$;
