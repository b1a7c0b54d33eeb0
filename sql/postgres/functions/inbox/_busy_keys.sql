-- Locks the keys of these messages of the inbox, which are about to be removed. Returns the messages whose key another
-- transaction has locked: they are for another time, since that transaction may take long.
create or replace function :"schema"._busy_keys(ids bigint[]) returns bigint[]
language plpgsql volatile :hot as $$
begin
    return array(
        select i.id from unnest(ids) i(id) cross join lateral (
            select m.source, m.external_id from :"schema".message m where m.work_id = i.id limit 1) m
        cross join lateral (   -- it is there, locked or not
            select from :"schema".inbox_key k where k.source = m.source and k.external_id = m.external_id limit 1) k
        left join lateral (
            select true as ours from :"schema".inbox_key k
            where k.source = m.source and k.external_id = m.external_id for update skip locked) l on true
        where l.ours is null);
end $$;
