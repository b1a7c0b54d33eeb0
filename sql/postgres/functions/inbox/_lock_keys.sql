-- Locks the keys of these messages of the inbox, in the order in which all transactions lock keys.
create or replace function :"schema"._lock_keys(ids bigint[]) returns void
language plpgsql volatile :hot as $$
declare
    sources text[];
    external_ids text[];
begin
    select array_agg(m.source order by m.source, m.external_id), array_agg(m.external_id order by m.source, m.external_id)
    into sources, external_ids
    from unnest(ids) i(id) cross join lateral (
        select m.source, m.external_id from :"schema".message m where m.work_id = i.id limit 1) m
    where m.source is not null;
    perform from unnest(sources, external_ids) with ordinality s(source, external_id, n) cross join lateral (
        select from :"schema".inbox_key k
        where k.source = s.source collate "C" and k.external_id = s.external_id collate "C" for update) k;
end $$;
