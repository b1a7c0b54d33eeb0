-- A page of streams by key; p_key: just that one. The prefix is a range of the index.
create or replace function :"schema"._stream_page(
    p_box smallint, p_key text, only_halted boolean, p_prefix text, p_after text, max_streams int)
returns table (stream text, state text, partition int, pending bigint, head bigint, topic text, available_at timestamptz,
               retry_count int, owner uuid, halted_at timestamptz, halted_by bigint)
language plpgsql stable security definer :hot set enable_sort = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    last_key constant text := p_prefix || chr(1114111) || chr(1114111);
    keys text[];
begin
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
              and (s.halted_at is not null or exists (
                  select from :"schema".parked p where p.box = p_box and p.stream = s.key limit 1))
            order by s.box, s.key limit max_streams);
    end if;
    return query
        select v.key::text, v.state, v.partition, n.pending, v.head, v.topic, v.available_at, v.retry_count, v.owner,
               v.halted_at, v.halted_by
        from unnest(keys) with ordinality k(key, n) cross join lateral (
            select * from :"schema"._stream_state v where v.box = p_box and v.key = k.key collate "C" limit 1) v
        cross join lateral (
            select count(*) as pending from (
                select from :"schema".parked p where p.box = p_box and p.stream = k.key limit 1000) x) n;
end $$;
