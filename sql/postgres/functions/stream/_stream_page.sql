-- A page of streams by key; p_key: just that one. The prefix is a range of the index. Messages that no claimer has met
-- yet are looked up in the log (_fresh_streams): looking at streams takes no turn.
create or replace function :"schema"._stream_page(
    p_box smallint, p_key text, only_halted boolean, p_prefix text, p_after text, max_streams int)
returns table (stream text, state text, partition int, pending bigint, head bigint, topic text, available_at timestamptz,
               retry_count int, owner uuid, halted_at timestamptz, halted_by bigint)
language plpgsql stable security definer :hot set enable_sort = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    last_key constant text := p_prefix || chr(1114111) || chr(1114111);
    partitions constant int := :"schema"._setting('partition_count', 10000);
    keys text[];
    fresh_keys text[];   -- with what is in the log, by position
    fresh_heads bigint[];
    fresh_counts bigint[];
    sees boolean := :"schema"._sees_owners();
begin
    perform :"schema"._check_most('max_streams', max_streams);
    select array_agg(s.stream), array_agg(s.head), array_agg(s.pending) into fresh_keys, fresh_heads, fresh_counts
    from :"schema"._fresh_streams(p_box, p_key, p_prefix, last_key) s;
    if p_key is not null then
        keys := array[p_key];
    elsif only_halted then
        keys := array(
            select s.key from :"schema".stream s
            where s.box = p_box and s.halted_at is not null and s.key >= p_prefix collate "C"
              and s.key <= last_key collate "C" and s.key > p_after collate "C"
            order by s.box, s.key limit max_streams);
    else
        keys := array(
            select k.key from (
                (select s.key from :"schema".stream s
                 where s.box = p_box and s.key >= p_prefix collate "C" and s.key <= last_key collate "C"
                   and s.key > p_after collate "C"
                   and (s.halted_at is not null or s.available_at is null
                        or exists (select from :"schema".parked p where p.box = p_box and p.stream = s.key limit 1)
                        or exists (select from :"schema".message m
                                   where m.box = p_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key
                                     and m.work_id > s.position limit 1))
                 order by s.box, s.key limit max_streams)
                union
                select n collate "C" from unnest(fresh_keys) n where n > p_after collate "C") k(key)
            order by k.key collate "C" limit max_streams);
    end if;
    return query
        with fresh as materialized (
            select n.key, n.head, n.pending, m.topic::text, greatest(m.due_at, m.created_at) as available_at
            from unnest(fresh_keys, fresh_heads, fresh_counts) n(key, head, pending)
            cross join lateral (
                select m.topic, m.due_at, m.created_at from :"schema".message m where m.work_id = n.head limit 1) m
            where n.key = any (keys) and not exists (   -- what else there is of it is found by its row
                select from :"schema".stream s where s.box = p_box and s.key = n.key collate "C"))
        select k.key,
               case when v.halted_at is not null or v.state = 'in_progress' or not x.is_fresh then v.state
                    when n.available_at <= clock_timestamp() then 'ready' else 'waiting' end,
               coalesce(v.partition, :"schema"._partition(k.key, partitions)),
               least(parked.pending + log.pending + coalesce(n.pending, 0), 1000),
               least(v.head, n.head),
               case when x.is_fresh then n.topic else v.topic end,
               case when v.halted_at is not null or v.state = 'in_progress' then null
                    when x.is_fresh then n.available_at else v.available_at end,
               case when x.is_fresh then 0 else v.retry_count end,
               case when sees then v.owner else :"schema"._veil(v.owner) end, v.halted_at, v.halted_by
        from unnest(keys) with ordinality k(key, n)
        left join lateral (
            select * from :"schema"._stream_state v where v.box = p_box and v.key = k.key collate "C" limit 1) v on true
        left join fresh n on n.key = k.key
        cross join lateral (select coalesce(n.head < v.head, v.head is null) as is_fresh) x
        cross join lateral (
            select count(*) as pending from (
                select from :"schema".parked p where p.box = p_box and p.stream = k.key limit 1000) y) parked
        cross join lateral (
            select count(*) as pending from (
                select from :"schema".stream s join :"schema".message m
                  on m.box = p_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key and m.work_id > s.taken_from
                where s.box = p_box and s.key = k.key collate "C"
                  and (m.work_id > s.position or exists (
                       select from :"schema".lease l where l.box = p_box and l.epoch = s.epoch and l.items @> m.work_id))
                limit 1000) y) log
        where v.key is not null or n.key is not null
        order by k.n;
end $$;
