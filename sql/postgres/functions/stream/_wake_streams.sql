-- Makes the next claimer look at these streams: a message has been sorted in that may be their head now, maybe of
-- another topic than the head before. Streams that have nothing to hand out (leased, halted) are looked at anyway when
-- that changes. Returns those that another transaction has locked: waiting for it under the turn could be a deadlock.
-- Only under the turn.
create or replace function :"schema"._wake_streams(p_box smallint, keys text[], ts timestamptz) returns text[]
language plpgsql volatile :hot as $$
declare
    free text[];
    waiting text[];
begin
    select array_agg(s.key), array_agg(s.key) filter (where s.available_at is not null) into free, waiting
    from unnest(keys) k(key) cross join lateral (
        select s.key, s.available_at from :"schema".stream s where s.box = p_box and s.key = k.key
        limit 1 for update skip locked) s;
    update :"schema".stream s set available_at = least(s.available_at, ts), topic = null
    where s.ctid = any (:"schema"._stream_rows(p_box, waiting));
    return array(
        select k.key from (select unnest(keys) except select unnest(free)) k(key) cross join lateral (
            select from :"schema".stream s where s.box = p_box and s.key = k.key limit 1) s);
end $$;
