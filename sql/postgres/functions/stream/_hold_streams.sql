-- Locks the streams of these messages that have a row, in the order of their keys. Returns their keys.
create or replace function :"schema"._hold_streams(p_box smallint, items int8multirange) returns text[]
language plpgsql volatile :hot as $$
begin
    if items = '{}' then
        return '{}'::text[];
    end if;
    return array(
        select s.key from (
            select distinct m.stream from :"schema"._ids(items) i cross join lateral (
                select m.stream from :"schema".message m where m.work_id = i and m.stream is not null limit 1) m
            order by m.stream) k(key)
        cross join lateral (
            select s.key from :"schema".stream s where s.box = p_box and s.key = k.key limit 1 for update) s);
end $$;
