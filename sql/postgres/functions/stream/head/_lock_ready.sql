-- Locks those of these streams that may still be looked at, at most wanted, and passes over those that another
-- transaction has locked. Returns their keys, where their rows are, and their positions, in the same order.
create or replace function :"schema"._lock_ready(
    p_box smallint, candidates text[], wanted int, p_suspect boolean, ts timestamptz,
    out keys text[], out places tid[], out positions bigint[])
language plpgsql volatile :hot as $$
begin
    select array_agg(s.key), array_agg(s.place), array_agg(s.position) into keys, places, positions
    from (select s.* from unnest(candidates) c cross join lateral (
              select s.key, s.ctid as place, s.position, s.suspect, s.available_at from :"schema".stream s
              where s.box = p_box and s.key = c limit 1 for update skip locked) s
          where s.suspect = p_suspect and s.available_at <= ts limit wanted) s;
end $$;
