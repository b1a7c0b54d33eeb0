-- Rows of the pool of which something is held: what is held is set aside, under the numbers of its holders, so that claims do not
-- meet it one by one.
create or replace function :"schema"._set_aside(p_box smallint, topics text[], pool_from bigint) returns void
language plpgsql volatile as $$
declare
    p record;
    free int8multirange;
begin
    for p in select * from :"schema"._pool_rows(p_box, topics, pool_from, 20) loop
        free := :"schema"._sidestep(p_box, p.items);
        if free = '{}' then
            delete from :"schema".pool x where x.box = p_box and x.place = p.place;
        elsif free <> p.items then
            update :"schema".pool x set items = free, size = (select sum(upper(r) - lower(r)) from unnest(free) r)
            where x.box = p_box and x.place = p.place;
        end if;
    end loop;
end $$;
