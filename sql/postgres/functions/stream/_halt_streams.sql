-- Messages have died: their streams halt now, if that is their policy. A stream that no claimer has sorted in yet gets
-- its row only with is_turn: under the turn, where otherwise only claimers make rows. Nothing waits there: if another
-- transaction holds a row, this one fails, to be repeated.
create or replace function :"schema"._halt_streams(p_box smallint, ids bigint[], is_turn boolean, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    keys text[];
    killers bigint[];
    halted text[];
    halters bigint[];
begin
    select array_agg(d.stream), array_agg(d.id) into keys, killers
    from (select m.stream, min(m.work_id) as id
          from unnest(ids) i cross join lateral (
              select m.stream, m.work_id from :"schema".message m where m.work_id = i and m.stream is not null limit 1) m
          group by m.stream) d
    where :"schema"._halts(d.stream);
    if keys is null then
        return;
    end if;
    if is_turn then
        if exists (select from unnest(keys) k(key) cross join lateral (
                       select s.key from :"schema".stream s where s.box = p_box and s.key = k.key limit 1) s
                   left join lateral (
                       select s.key from :"schema".stream s where s.box = p_box and s.key = k.key
                       limit 1 for update skip locked) ours on true
                   where ours.key is null) then
            raise exception using errcode = '40001', message = 'a stream is being settled; try again';
        end if;
    else
        perform from :"schema".stream s where s.box = p_box and s.key = any (keys) order by s.key for update;
    end if;
    with changed as (
        update :"schema".stream s set halted_at = ts, halted_by = k.id, available_at = null
        from unnest(keys, killers) k(key, id)
        where s.box = p_box and s.key = k.key and s.halted_at is null
        returning s.key, s.halted_by)
    select array_agg(c.key), array_agg(c.halted_by) into halted, halters from changed c;
    perform :"schema"._warn_of_halts(p_box, halted, halters);
    if is_turn then
        with made as (
            insert into :"schema".stream (box, key, partition, halted_at, halted_by, position, taken_from)
            select p_box, k.key, :"schema"._partition(k.key, :"schema"._setting('partition_count', 10000)::int), ts, k.id, p, p
            from unnest(keys, killers) k(key, id)
            cross join lateral :"schema"._new_position(:"schema"._frontier(p_box, 1::smallint), k.key) p
            where not exists (select from :"schema".stream s where s.box = p_box and s.key = k.key)
            returning stream.key, stream.halted_by)
        select array_agg(m.key), array_agg(m.halted_by) into halted, halters from made m;
        perform :"schema"._warn_of_halts(p_box, halted, halters);
    end if;
end $$;
