-- Streams whose head no claimer finds: no lease holds the head, and yet the stream's row is missing, waits for a lease
-- that does not exist, says a later time than the head's, or names another topic. There should be none. Halted streams
-- wait for an operator's decision, and those noted down are looked at within a second. Stable: the clock is read after
-- the snapshot was taken, so that no row is ahead of it.
create or replace function :"schema"._stalled_streams(p_box smallint) returns text[]
language plpgsql stable :pinned set enable_nestloop = off as $$
declare
    ts timestamptz := clock_timestamp();
    f constant :"schema".frontier := :"schema"._newest_frontier(p_box, 1::smallint);
begin
    return array(
        select h.stream from (
            select distinct on (z.stream) z.stream, z.topic, z.available_at from (
                select p.stream, p.work_id, p.topic, p.available_at from :"schema".parked p
                where p.box = p_box and p.stream is not null
                union all
                select m.stream, m.work_id, m.topic, coalesce(m.due_at, '-infinity')
                from :"schema".stream s join :"schema".message m
                  on m.box = f.log_box and m.lane = 1 and m.stream = s.key and m.work_id > s.position and m.era = f.era
                     and pg_visible_in_snapshot(m.xid, f.target)
                     and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                            m.topic, m.created_at, m.work_id)
                     and not exists (select from :"schema".reader_skip k where k.box = p_box and k.work_id = m.work_id)
                where s.box = p_box) z
            order by z.stream, z.work_id) h
        left join :"schema".stream s on s.box = p_box and s.key = h.stream
        where s.halted_at is null
          and (s.available_at is null or s.available_at > greatest(h.available_at, ts) or s.topic <> h.topic)
          and not exists (select from :"schema"._stream_state v
                          where v.box = p_box and v.key = h.stream and v.state = 'in_progress')
          and not exists (select from :"schema".stream_note n where n.box = p_box and n.key = h.stream));
end $$;
