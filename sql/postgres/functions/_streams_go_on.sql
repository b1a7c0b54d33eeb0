-- These streams are looked at again by the next claimer, who finds the true head: what
-- we see may be older than what claimers have sorted in meanwhile. A stream that has a leased message
-- waits for that, and a halted one for somebody's decision. Rows are locked in one statement and read in the next, whose
-- snapshot has what others did while we waited. The topic of the head is for claimers to say, under the turn: we might
-- not see a message that is being sorted in. A stream without messages stays as an empty row until a claimer deletes it.
create or replace function :"schema"._streams_go_on(p_box smallint, keys text[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
begin
    perform from :"schema".stream s where s.box = p_box and s.key = any (keys) order by s.key for update;
    update :"schema".stream s
    set available_at = case when s.halted_at is null and not exists (
            select from :"schema".parked x where x.box = p_box and x.stream = k.key and x.epoch is not null limit 1)
            then ts end,
        suspect = coalesce(h.is_suspect, false),
        topic = null
    from (select distinct k from unnest(keys) k) k(key)
    left join lateral (
        select p.crash_count > 0 as is_suspect from :"schema".parked p
        where p.box = p_box and p.stream = k.key order by p.work_id limit 1) h on true
    where s.box = p_box and s.key = k.key;
end $$;
