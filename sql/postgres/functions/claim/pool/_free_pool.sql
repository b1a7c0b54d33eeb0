-- Frees messages in the pool whose holders have ended, or parks them if they are not ready. (Messages that a holder
-- took are not in the pool any more, or not in the lane.) True: some were parked.
create or replace function :"schema"._free_pool(p_box smallint) returns boolean
language plpgsql volatile as $$
declare
    to_park int8multirange;
begin
    update :"schema".pool p set holder = null
    where p.ctid = any (array(
        select x.ctid from :"schema".pool x
        where x.box = p_box and x.holder is not null and not x.to_park and not :"schema"._is_running(x.holder)
        for update skip locked));
    if not exists (select from :"schema".pool x where x.box = p_box and x.holder is not null and x.to_park) then
        return false;
    end if;
    with gone as (
        delete from :"schema".pool p
        where p.ctid = any (array(
            select x.ctid from :"schema".pool x
            where x.box = p_box and x.holder is not null and x.to_park and not :"schema"._is_running(x.holder)
            for update skip locked))
        returning p.items)
    select range_agg(r) into to_park from gone g cross join unnest(g.items) r;
    if to_park is not null then
        perform :"schema"._park_fresh(p_box, array(select :"schema"._ids(:"schema"._sidestep(p_box, to_park))), clock_timestamp());
    end if;
    return to_park is not null;
end $$;
