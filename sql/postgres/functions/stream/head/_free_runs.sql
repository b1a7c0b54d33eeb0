-- The leases of these epochs are settled in whole: the streams whose messages they held go on. `parked`: streams of
-- which some messages were parked. Most streams are plain, since none of their messages is parked any more; the others
-- are returned. As in _advance_streams, rows are locked in the order of keys, all at once, and read afterwards.
create or replace function :"schema"._free_runs(p_box smallint, epochs bigint[], parked text[], ts timestamptz) returns text[]
language plpgsql volatile as $$
declare
    held record;
    others text[];
begin
    select array_agg(s.key) as keys, array_agg(s.place) as places into held
    from (select k.key from (
              select e.key from (   -- by the index of epochs, not in the order of another one
                  select s.box, s.key from :"schema".stream s where s.epoch = any (epochs) offset 0) e
              where e.box = p_box
              union all
              select p collate "C" from unnest(parked) p) k
          group by k.key order by k.key) k
    cross join lateral (
        select s.key, s.ctid as place from :"schema".stream s where s.box = p_box and s.key = k.key limit 1 for update) s;
    if held.keys is null then
        return null;
    end if;
    with freed as (
        update :"schema".stream s set available_at = ts, topic = null, epoch = null, suspect = false
        where s.ctid = any (held.places) and s.halted_at is null and coalesce(s.epoch = any (epochs), true) and (   -- one look, as in _head_runs
            select true from :"schema".parked p where p.box = p_box and p.stream >= s.key and p.stream <= s.key
            order by p.stream, p.work_id limit 1) is null
        returning s.key)
    select array_agg(k) into others from unnest(held.keys) k where k not in (select f.key from freed f);
    return others;
end $$;
