-- Locks rows of the pool that a claimer may take from, at most `most`, the oldest first. Passes over rows that another
-- transaction has locked. topics null: all.
create or replace function :"schema"._pool_rows(p_box smallint, topics text[], pool_from bigint, most int)
returns table (place bigint, size int, items int8multirange)
language plpgsql volatile as $$
#variable_conflict use_column
begin
    if topics is null then
        return query
            select p.place, p.size, p.items from :"schema".pool p
            where p.box = p_box and p.place >= pool_from and p.holder is null
            order by p.box, p.place limit most for update skip locked;
        return;
    end if;
    -- Each topic in turn: a place says little about age across topics, and no row has to be locked to compare it.
    return query
        select c.* from unnest(topics) t(topic) cross join lateral (
            select p.place, p.size, p.items from :"schema".pool p
            where p.box = p_box and p.topic = t.topic collate "C" and p.place >= pool_from and p.holder is null
            order by p.topic, p.place limit most for update skip locked) c
        limit most;
end $$;
