-- Messages in the parking lot that are not leased, each with the number that it stands for: all of them, or a sample of
-- about `most`.
create or replace function :"schema"._parked_sample(
    p_box smallint, most int, out parked :"schema".parked, out weight double precision)
returns setof record language plpgsql stable rows 20000 :hot as $$
declare
    met bigint := (select count(*) from (
        select from :"schema".parked p where p.box = p_box and p.epoch is null limit most + 1) x);
begin
    if met <= most then
        return query select p, 1::double precision from :"schema".parked p where p.box = p_box and p.epoch is null;
        return;
    end if;
    -- One look-up each (offset 0), whatever the planner estimates for a table that was not analyzed yet.
    return query
        select x.p, s.weight
        from :"schema"._spread('parked', (select min(p.work_id) from :"schema".parked p), most) s
        cross join lateral (select p from :"schema".parked p where p.work_id = s.work_id and p.box = p_box offset 0) x
        where (x.p).epoch is null;
end $$;
