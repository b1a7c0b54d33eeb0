-- The topics of dead letters, each with the number that it stands for: of all dead letters, or of a sample of about
-- `most`.
create or replace function :"schema"._dead_sample(p_box smallint, most int)
returns table (topic text, weight double precision) language plpgsql stable rows 20000 :hot as $$
declare
    met bigint := (select count(*) from (select from :"schema".dead d where d.box = p_box limit most + 1) x);
begin
    if met <= most then
        return query select d.topic::text, 1::double precision from :"schema".dead d where d.box = p_box;
        return;
    end if;
    return query
        select d.topic::text, s.weight
        from :"schema"._spread('dead', (select min(d.work_id) from :"schema".dead d), most) s
        cross join lateral (select * from :"schema".dead d where d.work_id = s.work_id and d.box = p_box limit 1) d;
end $$;
