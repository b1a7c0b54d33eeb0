-- Notes that keys of the inbox were heard of: arrays that go together by position; a key may come twice. New keys get
-- p_state, and so do those that were only seen before. In all others only last_seen_at, seen_count and a missing hash
-- change. Returns a row for each key: whether this call gave it its state, the state, and the hash that counts, the
-- first that was ever given.
--
-- One statement locks all keys, in their order, so that no wait is circular. A transaction that meets the key of an
-- open one waits for its end: then the key is known, or new after all. That statement locks a key that was only seen
-- and does not change it (the where), which tells it from the others; the next statement then changes it.
--
-- last_seen_at is in an index. A key that is seen again within a second keeps it, and its row changes without a new
-- entry in any index (a HOT update).
create or replace function :"schema"._note_keys(
    sources text[], external_ids text[], hashes text[], ids uuid[], p_state smallint)
returns table (message_id uuid, is_ours boolean, state smallint, content_hash text)
language plpgsql volatile rows 1000 :hot set enable_hashjoin = on as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    ended timestamptz := case when p_state = 2 then ts end;
    keys record;
begin
    with mentions as materialized (
        select s.source collate "C" as source, s.external_id collate "C" as external_id, s.id, count(*) as times,
               (array_agg(s.hash order by s.n) filter (where s.hash is not null))[1] as hash
        from unnest(sources, external_ids, hashes, ids) with ordinality s(source, external_id, hash, id, n)
        where case when char_length(s.source) between 1 and :source_max and char_length(s.external_id) between 1 and :external_id_max
                        and coalesce(char_length(s.hash) <= :content_hash_max, true)
                        and s.id <> '00000000-0000-0000-0000-000000000000' then true
              else :"schema"._refuse_key(s.source, s.external_id, s.hash, s.id) end
        group by 1, 2, 3),
    written as (
        insert into :"schema".inbox_key as k (source, external_id, message_id, state, first_seen_at, last_seen_at,
                                         seen_count, ended_at, content_hash)
        select s.source, s.external_id, s.id, p_state, ts, ts, s.times, ended, s.hash
        from mentions s order by s.source, s.external_id
        on conflict (source, external_id) do update
            set last_seen_at = case when excluded.last_seen_at >= k.last_seen_at + interval '1 second'
                                    then excluded.last_seen_at else k.last_seen_at end,
                seen_count = k.seen_count + excluded.seen_count,
                content_hash = coalesce(k.content_hash, excluded.content_hash)
            where k.state <> 0 or p_state = 0
        returning k.message_id, k.seen_count, k.state, k.content_hash)
    select array_agg(s.source) as sources, array_agg(s.external_id) as external_ids, array_agg(s.id) as ids,
           array_agg(s.times) as times, array_agg(coalesce(w.content_hash, s.hash)) as hashes,
           array_agg(w.state) as states,
           array_agg(w.message_id is null or w.seen_count = s.times) as ours,   -- a known one was seen before
           bool_or(w.message_id is null) as some_seen
    into keys
    from mentions s left join written w on w.message_id = s.id;
    if keys.some_seen then
        return query
            with seen as (
                select x.ctid as tid, s.times, s.hash
                from unnest(keys.sources, keys.external_ids, keys.times, keys.hashes, keys.states)
                    s(source, external_id, times, hash, state)
                cross join lateral (
                    select x.ctid from :"schema".inbox_key x
                    where x.source = s.source collate "C" and x.external_id = s.external_id collate "C" limit 1) x
                where s.state is null)
            update :"schema".inbox_key k
            set state = p_state, last_seen_at = greatest(k.last_seen_at, ts), seen_count = k.seen_count + s.times,
                ended_at = ended, content_hash = coalesce(k.content_hash, s.hash)
            from seen s where k.ctid = s.tid
            returning k.message_id, true, k.state, k.content_hash;
    end if;
    return query
        select s.id, s.is_ours, s.state, s.hash from unnest(keys.ids, keys.ours, keys.states, keys.hashes)
            s(id, is_ours, state, hash)
        where s.state is not null;
end $$;
