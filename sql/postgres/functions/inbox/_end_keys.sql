-- Messages of the inbox are about to be removed: their keys remember how they ended.
create or replace function :"schema"._end_keys(ids bigint[]) returns void
language plpgsql volatile :hot as $$
begin
    with gone as (
        select k.tid, d.died_at, f.at
        from unnest(ids) i(id) cross join lateral (
            select m.source, m.external_id from :"schema".message m where m.work_id = i.id limit 1) m
        cross join lateral (
            select k.ctid as tid from :"schema".inbox_key k
            where k.source = m.source and k.external_id = m.external_id limit 1) k
        left join lateral (select d.died_at from :"schema".dead d where d.work_id = i.id and d.box = 1 limit 1) d on true
        left join lateral (
            select f.at from :"schema".finished f where f.box = 1 and f.first_id <= i.id order by f.first_id desc limit 1) f on true)
    update :"schema".inbox_key k
    set state = case when g.died_at is null then 2 else 3 end, ended_at = coalesce(g.died_at, g.at)
    from gone g where k.ctid = g.tid;
end $$;
