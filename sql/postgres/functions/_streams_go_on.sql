-- The streams of these messages look for their next head: its own time decides when. A stream
-- without messages stays as an empty row until a claimer deletes it; one that has a leased message
-- waits for that. Rows are locked in one statement and heads read in the next, whose snapshot has
-- what others did while we waited.
create or replace function :"schema"._streams_go_on(p_box smallint, ids bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    keys text[];
begin
    select array_agg(l.key) into keys from (
        select s.key from :"schema".stream s
        where s.box = p_box and s.key in (
            select m.stream from :"schema".message m where m.work_id = any (ids) and m.lane = 1)
        order by s.key for update of s) l;
    update :"schema".stream s
    set available_at = case when not exists (
            select from :"schema".parked x where x.box = p_box and x.stream = k.key and x.epoch is not null)
            then greatest(h.available_at, ts) end,
        suspect = coalesce(h.crash_count > 0, false)
    from unnest(keys) k(key) left join lateral (
        select p.epoch, p.available_at, p.crash_count from :"schema".parked p
        where p.box = p_box and p.stream = k.key
        order by p.work_id limit 1) h on true
    where s.box = p_box and s.key = k.key;
end $$;
