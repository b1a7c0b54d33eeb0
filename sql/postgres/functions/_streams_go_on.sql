-- The streams of these messages are looked at again by the next claimer, who finds the true head: what
-- we see may be older than what claimers have sorted in meanwhile. A stream that has a leased message
-- waits for that. Rows are locked in one statement and read in the next, whose snapshot has what others
-- did while we waited. A stream without messages stays as an empty row until a claimer deletes it.
create or replace function :"schema"._streams_go_on(p_box smallint, ids bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    keys text[];
begin
    select array_agg(l.key) into keys from (
        select s.key from :"schema".stream s
        where s.box = p_box and s.key in (
            select m.stream from :"schema".message m where m.work_id = any (ids) and m.stream is not null)
        order by s.key for update of s) l;
    update :"schema".stream s
    set available_at = case when not exists (
            select from :"schema".parked x where x.box = p_box and x.stream = k.key and x.epoch is not null)
            then ts end,
        suspect = coalesce((
            select p.crash_count > 0 from :"schema".parked p where p.box = p_box and p.stream = k.key
            order by p.work_id limit 1), false)
    from unnest(keys) k(key)
    where s.box = p_box and s.key = k.key;
end $$;
