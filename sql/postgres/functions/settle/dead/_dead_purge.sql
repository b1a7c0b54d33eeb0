-- Removes the chosen dead letters with their messages and history. Returns how many. A message that another reader has not ended, or
-- not long enough ago, stays for that one; what is left here is a note that this reader has ended it.
create or replace function :"schema"._dead_purge(p_box smallint, ids bigint[]) returns bigint
language plpgsql volatile :hot as $$
declare
    gone bigint[];
    keys uuid[];
    holders uuid[];
begin
    if p_box = 1 then   -- locks keys in the order in which all transactions do
        perform from (
            select m.source, m.external_id from unnest(ids) i(id) cross join lateral (
                select m.source, m.external_id from :"schema".message m where m.work_id = i.id limit 1) m
            where m.source is not null order by m.source, m.external_id offset 0) s
        cross join lateral (
            select from :"schema".inbox_key k
            where k.source = s.source and k.external_id = s.external_id limit 1 for update) k;
    end if;
    gone := array(
        select d.work_id from :"schema".dead d where d.box = p_box and d.work_id = any (ids)
        order by d.work_id for update);
    if p_box = 1 then
        perform :"schema"._end_keys(gone);
    end if;
    delete from :"schema".dead d where d.box = p_box and d.work_id = any (gone);
    if pg_sequence_last_value(':"schema".reader_number') is not null then
        delete from :"schema".attempt a
        where a.work_id = any (gone) and a.reader = case when p_box > 1 then p_box else 0 end;
        insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
        select i, i, p_box, 0, '00000000-0000-0000-0000-000000000000', '-infinity' from unnest(gone) i;
        if p_box < 2 and :"schema"._is_step(:"schema"._multirange(gone)) then   -- as below
            perform :"schema"._count_steps(:"schema"._multirange(gone), 2::smallint, clock_timestamp());
        end if;
        perform :"schema"._remove_ended(case when p_box < 2 then p_box else :"schema"._log_box(p_box) end, gone);
        return cardinality(gone);
    end if;
    delete from :"schema".attempt a where a.work_id = any (gone);
    delete from :"schema".stage s where s.work_id = any (gone);
    with messages as (
        delete from :"schema".message m where m.work_id = any (gone) returning m.message_id, m.unique_key)
    select array_agg(m.unique_key), array_agg(m.message_id) into keys, holders
    from messages m where m.unique_key is not null;
    perform :"schema"._forget_keys(keys, holders);
    -- The last chance to count them: from now on nothing can attach them.
    if :"schema"._is_step(:"schema"._multirange(gone)) then
        perform :"schema"._count_steps(:"schema"._multirange(gone), 2::smallint, clock_timestamp());
    end if;
    return cardinality(gone);
end $$;
