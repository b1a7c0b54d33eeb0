-- The streams of these messages look for their next head: its own time decides when. A stream
-- without messages stays as an empty row until a claimer deletes it. A stream whose head is still
-- leased (by another lease than the one just settled) is left alone.
create or replace function :"schema"._streams_go_on(p_box smallint, ids bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
begin
    with keys as (
        select distinct m.stream from :"schema".message m where m.work_id = any (ids) and m.lane = 1),
    locked as (
        select s.key from :"schema".stream s join keys k on s.box = p_box and s.key = k.stream
        order by s.key for update of s)
    update :"schema".stream s
    set available_at = case when h.epoch is null then greatest(h.available_at, ts) end,
        suspect = coalesce(h.crash_count > 0, false)
    from locked k left join lateral (
        select p.epoch, p.available_at, p.crash_count from :"schema".parked p
        where p.box = p_box and p.stream = k.key
        order by p.work_id limit 1) h on true
    where s.box = p_box and s.key = k.key;
end $$;
