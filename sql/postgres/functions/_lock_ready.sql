-- Locks those of these streams that may be looked at still, and passes over those that somebody else has.
create or replace function :"schema"._lock_ready(p_box smallint, candidates text[], p_suspect boolean, ts timestamptz)
returns text[] language plpgsql volatile :hot as $$
begin
    return array(
        select s.key from unnest(candidates) c cross join lateral (
            select s.key, s.suspect, s.available_at from :"schema".stream s where s.box = p_box and s.key = c
            limit 1 for update skip locked) s
        where s.suspect = p_suspect and s.available_at <= ts);
end $$;
