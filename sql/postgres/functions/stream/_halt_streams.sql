-- Messages have died: their streams halt now, if that is their policy. A stream that no claimer has sorted in yet gets
-- its row only with is_turn: under the turn, where otherwise only claimers make rows. Nothing waits there: if another
-- transaction holds a row, this one fails, to be repeated.
create or replace function :"schema"._halt_streams(p_box smallint, ids bigint[], is_turn boolean, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    keys text[];
    killers bigint[];
    halts record;
    halt record;
    box_name constant text := case when p_box < 2 then :"schema"._log_name(p_box)
                                   else (select 'subscription ' || r.name from :"schema".reader r where r.number = p_box) end;
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
        returning s.key, s.halted_by),
    made as (
        insert into :"schema".stream (box, key, partition, halted_at, halted_by, position, taken_from)
        select p_box, k.key, :"schema"._partition(k.key, :"schema"._setting('partition_count', 10000)::int), ts, k.id, p, p
        from unnest(keys, killers) k(key, id)
        cross join lateral :"schema"._new_position(:"schema"._frontier(p_box, 1::smallint), k.key) p
        where is_turn and not exists (select from :"schema".stream s where s.box = p_box and s.key = k.key)
        returning stream.key, stream.halted_by)
    select array_agg(h.key) as keys, array_agg(h.halted_by) as ids into halts
    from (select * from changed union all select * from made) h;
    -- The library logs such a warning. If another transaction is in the way and the halt is undone, the warning was sent
    -- all the same. It is sent again when the halt happens.
    for halt in select k.key, k.id from unnest(halts.keys, halts.ids) k(key, id) order by k.id limit 100 loop
        raise warning using errcode = '01BX2', table = box_name, column = halt.key,
            detail = 'work_id ' || halt.id || case when p_box > 1 then ' subscription_number ' || p_box else '' end,
            message = format('stream %s of the %s is halted: message %s died', halt.key, box_name, halt.id);
    end loop;
end $$;
