-- Rows of the pool that a claim inside a transaction has passed because others hold all their messages, if that is
-- much: the first ones, of not too many messages together. p_places: the rows where the claim found its own messages,
-- null: none.
create or replace function :"schema"._crowded_rows(f :"schema".frontier, topics text[], p_places bigint[])
returns bigint[] language plpgsql volatile as $$
declare
    last_place constant bigint := (select max(p) from unnest(p_places) p);
    places bigint[];
    total bigint;
begin
    select array_agg(x.place order by x.place) filter (where x.so_far <= 2000), sum(x.size) into places, total from (
        select p.place, p.size, sum(p.size) over (order by p.place) as so_far from :"schema".pool p
        where p.box = f.box and p.place >= f.pool_from and (last_place is null or p.place < last_place) and p.holder is null
          and p.place <> all (coalesce(p_places, '{}')) and (topics is null or p.topic = any (topics))
        order by p.box, p.place limit 100) x;
    return case when total > 100 then places else '{}' end;
end $$;
