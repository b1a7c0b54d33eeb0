-- A page of streams by key; p_key: just that one. The prefix is a range of the index. Streams that no claimer has met
-- yet are looked up in the log (_unmet_streams): a look at streams takes no turn.
create or replace function :"schema"._stream_page(
    p_box smallint, p_key text, only_halted boolean, p_prefix text, p_after text, max_streams int)
returns table (stream text, state text, partition int, pending bigint, head bigint, topic text, available_at timestamptz,
               retry_count int, owner uuid, halted_at timestamptz, halted_by bigint)
language plpgsql stable security definer :hot set enable_sort = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    f constant :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    low constant bigint := :"schema"._unmet_from(f);
    last_key text := p_prefix || chr(1114111) || chr(1114111);
    partitions constant int := :"schema"._setting('partition_count', 10000);
    keys text[];
    sees boolean := :"schema"._sees_owners();
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    perform :"schema"._check_most('max_streams', max_streams);
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
            select s.key from :"schema".stream s
            where s.box = p_box and s.key >= p_prefix collate "C" and s.key <= last_key collate "C"
              and s.key > p_after collate "C"
              and (s.halted_at is not null or s.available_at is null
                   or exists (select from :"schema".parked p where p.box = p_box and p.stream = s.key limit 1)
                   or exists (select from :"schema".message m
                              where m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key
                                and m.work_id > s.position
                                and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                                     m.topic, m.created_at, m.work_id)
                                and (not skips or not :"schema"._is_left_out(p_box, m.work_id)) limit 1))
            order by s.box, s.key limit max_streams);
        if cardinality(keys) = max_streams then
            last_key := coalesce(keys[max_streams], '');   -- those behind it are not on this page
        end if;
        keys := array(
            select k.key from unnest(keys || :"schema"._unmet_streams(f, low, p_prefix, p_after, last_key, max_streams)) k(key)
            order by k.key collate "C" limit max_streams);
    end if;
    return query
        select k.key,
               coalesce(v.state, case when n.available_at <= clock_timestamp() then 'ready' else 'waiting' end),
               coalesce(v.partition, :"schema"._partition(k.key, partitions)),
               least(parked.pending + log.pending + unmet.pending, 1000),
               coalesce(v.head, n.head), coalesce(v.topic, n.topic),
               case when v.key is null then n.available_at
                    when v.halted_at is null and v.state <> 'in_progress' then v.available_at end,
               coalesce(v.retry_count, 0),
               case when sees then v.owner else :"schema"._veil(v.owner) end, v.halted_at, v.halted_by
        from unnest(keys) with ordinality k(key, n)
        left join lateral (
            select * from :"schema"._stream_state v where v.box = p_box and v.key = k.key collate "C" limit 1) v on true
        left join lateral (   -- of a stream that no claimer has met
            select m.work_id as head, m.topic::text as topic, greatest(m.due_at, m.created_at) as available_at
            from :"schema"._unmet_head(f, low, k.key) h
            cross join lateral (
                select m.* from :"schema".message m where m.work_id = h.work_id limit 1) m
            where not exists (select from :"schema".stream s where s.box = p_box and s.key = k.key collate "C")) n on true
        cross join lateral (
            select count(*) as pending from (
                select from :"schema".message m
                where m.box = f.log_box and m.lane = 1 and m.stream >= k.key and m.stream <= k.key and m.work_id >= n.head
                  and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                       m.topic, m.created_at, m.work_id)
                  and m.era = f.era and not :"schema"._is_behind(f, m.xid, m.work_id)
                limit 1000) y) unmet
        cross join lateral (
            select count(*) as pending from (
                select from :"schema".parked p where p.box = p_box and p.stream = k.key limit 1000) y) parked
        cross join lateral (
            select count(*) as pending from (
                select from :"schema".stream s join :"schema".message m
                  on m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key and m.work_id > s.taken_from
                where s.box = p_box and s.key = k.key collate "C"
                  and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                       m.topic, m.created_at, m.work_id)
                  and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
                  and (m.work_id > s.position or exists (
                       select from :"schema".lease l where l.box = p_box and l.epoch = s.epoch and l.items @> m.work_id))
                limit 1000) y) log
        where v.key is not null or n.head is not null
        order by k.n;
end $$;
