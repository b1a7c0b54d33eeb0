-- Sets aside what is held in these rows of the pool, under the numbers of its holders, so that claims do not meet it
-- one by one. Passes over rows that another transaction has locked.
create or replace function :"schema"._set_aside(p_box smallint, places bigint[]) returns void
language plpgsql volatile :hot as $$
declare
    met int8multirange := '{}'::int8multirange;
    free int8multirange;
begin
    places := array(
        select p.place from :"schema".pool p
        where p.box = p_box and p.place = any (places) and p.holder is null order by p.place for update skip locked);
    if places = '{}' then
        return;
    end if;
    met := (select range_agg(r) from :"schema".pool p, unnest(p.items) r where p.box = p_box and p.place = any (places));
    free := :"schema"._sidestep(p_box, met);
    if free = met then
        return;
    end if;
    delete from :"schema".pool p where p.box = p_box and p.place = any (places) and not p.items && free;
    update :"schema".pool p
    set items = p.items * free, size = (select sum(upper(r) - lower(r)) from unnest(p.items * free) r)
    where p.box = p_box and p.place = any (places) and not p.items <@ free;
end $$;
