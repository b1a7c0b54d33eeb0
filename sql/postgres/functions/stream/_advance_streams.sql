-- The next claimer looks at these streams again and finds the true head: this snapshot may be older than what claimers
-- have met meanwhile. A stream that has a leased message waits for that message, and a halted one for an operator's
-- decision. One statement locks the rows, in the order of keys that all transactions keep whatever the database's
-- collation is. The next one reads them: its snapshot has what other transactions did during the wait. Claimers find
-- the topic of the head, under the turn: this transaction might not see a message that is being parked. A stream
-- without messages stays as an empty row until a claimer deletes it.
create or replace function :"schema"._advance_streams(p_box smallint, keys text[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    free text[];       -- nothing of them is leased
    suspects text[];   -- of these, headed by one
    others text[];     -- leased
    halted text[];
begin
    perform from (select distinct k collate "C" from unnest(keys) k order by 1) k(key) cross join lateral (
        select from :"schema".stream s where s.box = p_box and s.key = k.key limit 1 for update) s;
    with state as materialized (
        select s.key, s.halted_at is null as is_going, not :"schema"._is_stream_leased(s) as is_free,
               (select p.crash_count > 0 from :"schema".parked p
                where p.box = p_box and p.stream >= s.key and p.stream <= s.key order by p.stream, p.work_id limit 1) as is_suspect
        from :"schema".stream s where s.ctid = any (:"schema"._stream_rows(p_box, keys)))
    select array_agg(k.key) filter (where k.is_going and k.is_free),
           array_agg(k.key) filter (where k.is_going and k.is_free and k.is_suspect),
           array_agg(k.key) filter (where not k.is_free), array_agg(k.key) filter (where not k.is_going and k.is_free)
    into free, suspects, others, halted from state k;
    update :"schema".stream s
    set available_at = ts, topic = null, epoch = null, suspect = coalesce(s.key = any (suspects), false)
    where s.ctid = any (:"schema"._stream_rows(p_box, free));
    perform :"schema"._end_quiet(p_box);
    if others is not null then
        update :"schema".stream s set available_at = null, topic = null
        where s.ctid = any (:"schema"._stream_rows(p_box, others));
    end if;
    if halted is not null then
        update :"schema".stream s set available_at = null, topic = null, epoch = null
        where s.ctid = any (:"schema"._stream_rows(p_box, halted));
    end if;
end $$;
