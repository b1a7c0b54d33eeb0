-- Removes the chosen dead letters with their messages and history. Returns how many.
create or replace function :"schema"._dead_purge(p_box smallint, ids bigint[]) returns bigint
language plpgsql volatile :pinned as $$
declare
    gone bigint[];
begin
    with locked as (
        select d.work_id from :"schema".dead d where d.box = p_box and d.work_id = any (ids)
        order by d.work_id for update),
    purged as (
        delete from :"schema".dead d using locked l where d.work_id = l.work_id returning d.work_id)
    select array_agg(p.work_id) into gone from purged p;
    delete from :"schema".attempt a where a.work_id = any (gone);
    delete from :"schema".stage s where s.work_id = any (gone);
    delete from :"schema".message m where m.work_id = any (gone);
    -- The last chance to count them, now that nobody can attach them any more.
    if :"schema"._is_step(:"schema"._multirange(gone)) then
        perform :"schema"._count_steps(:"schema"._multirange(gone), 2::smallint, clock_timestamp());
    end if;
    return coalesce(cardinality(gone), 0);
end $$;
