-- Of these messages, which no claimer has, those that may die now. A message is left for later, as in _bury_expired, if
-- another transaction holds the row of its stream, maybe for long. This is only a look, which locks nothing: burying
-- comes before the locks of streams, as everywhere (see _halt_streams).
create or replace function :"schema"._free_to_die(p_box smallint, ids bigint[]) returns bigint[]
language plpgsql volatile :hot as $$
declare
    streams text[];   -- of the messages, by position
    keys text[];      -- that have a row
    held text[];
begin
    streams := array(
        select m.stream from unnest(ids) with ordinality i(id, n) left join lateral (
            select m.stream from :"schema".message m where m.work_id = i.id limit 1) m on true
        order by i.n);
    keys := array(
        select k.key from (select distinct s from unnest(streams) s) k(key) cross join lateral (
            select from :"schema".stream s where s.box = p_box and s.key = k.key limit 1) s);
    if keys = '{}' then
        return ids;
    end if;
    begin
        held := array(
            select k.key from unnest(keys) k(key) left join lateral (
                select s.key from :"schema".stream s where s.box = p_box and s.key = k.key
                limit 1 for update skip locked) s on true
            where s.key is null);
        raise exception using errcode = 'BX099';   -- the locks on the free ones are given back
    exception when sqlstate 'BX099' then
        null;
    end;
    return array(select i.id from unnest(ids, streams) i(id, stream) where i.stream <> all (held));
end $$;
