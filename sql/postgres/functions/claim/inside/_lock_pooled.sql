-- Locks messages in the pool, for a claim inside a transaction of the caller. Says in which rows they are. It passes
-- over messages that another transaction has locked, and over rows whose messages another open transaction holds. SKIP
-- LOCKED does not skip this transaction's own locks: the number in a lock shows that an earlier claim of this
-- transaction took the message. topics null: all.
create or replace function :"schema"._lock_pooled(f :"schema".frontier, wanted int, topics text[])
returns table (work_id bigint, place bigint) language plpgsql volatile as $$
#variable_conflict use_column
declare
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
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
            where m.lane = 0 and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
          and (m.xmax = 0 or not :"schema"._is_running(:"schema"._full_xid(m.xmax)))
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
        where m.lane = 0 and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
          and (m.xmax = 0 or not :"schema"._is_running(:"schema"._full_xid(m.xmax)))
        limit wanted for update of m skip locked;
end $$;
