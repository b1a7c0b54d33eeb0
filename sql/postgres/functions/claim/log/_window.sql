-- The next messages of a lane's window, in the order (xid, work_id), at most wanted: visible in target, not visible in
-- base, after the position. reads: whether the reader wants it; claimers pass over the others without a trace.
--
-- Transactions that were still running in base are looked up one by one: they lie below base's xmax, where the range
-- scan does not look. The scan starts with a row comparison at (xmax(base), -1); any other lower bound would scan the
-- log from its start.
create or replace function :"schema"._window(f :"schema".frontier, wanted int)
returns table (xid xid8, work_id bigint, topic text, stream text, due_at timestamptz, expires_at timestamptz,
               reads boolean)
language plpgsql stable rows 1000 :hot as $$
#variable_conflict use_column
declare
    base_end xid8 := pg_snapshot_xmax(f.base);
    target_end xid8 := pg_snapshot_xmax(f.target);
    from_xid xid8 := base_end;
    from_id bigint := -1;
    late xid8[];
    -- Without what the reader has taken before.
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null
        and exists (select from :"schema".reader_skip k where k.box = f.box limit 1);
begin
    if f.position_xid >= base_end then
        from_xid := f.position_xid;
        from_id := f.position_id;
    else
        late := array(
            select x from pg_snapshot_xip(f.base) x where x >= f.position_xid and pg_visible_in_snapshot(x, f.target));
    end if;
    if cardinality(late) > 0 then
        return query
            select z.xid, z.work_id, z.topic, z.stream, z.due_at, z.expires_at, z.reads from (
                select m.* from unnest(late) l(xid), lateral (
                    select m.xid, m.work_id, m.topic, m.stream, m.due_at, m.expires_at,
                           :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                            m.topic, m.created_at, m.work_id) as reads
                    from :"schema".message m
                    where m.box = f.log_box and m.lane = f.lane and m.era = f.era and m.xid = l.xid
                      and (m.xid, m.work_id) > (f.position_xid, f.position_id)
                      and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
                    order by m.work_id limit wanted) m
                union all
                (select m.xid, m.work_id, m.topic, m.stream, m.due_at, m.expires_at,
                           :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                            m.topic, m.created_at, m.work_id) as reads
                    from :"schema".message m
                 where m.box = f.log_box and m.lane = f.lane and m.era = f.era
                   and (m.xid, m.work_id) > (from_xid, from_id) and m.xid < target_end
                   and pg_visible_in_snapshot(m.xid, f.target)
                   and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
                 order by m.xid, m.work_id limit wanted)) z
            order by z.xid, z.work_id limit wanted;
        return;
    end if;
    return query
        select m.xid, m.work_id, m.topic, m.stream, m.due_at, m.expires_at,
                           :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                            m.topic, m.created_at, m.work_id) as reads
                    from :"schema".message m
        where m.box = f.log_box and m.lane = f.lane and m.era = f.era
          and (m.xid, m.work_id) > (from_xid, from_id) and m.xid < target_end
          and pg_visible_in_snapshot(m.xid, f.target)
          and (not skips or not :"schema"._is_left_out(f.box, m.work_id))
        order by m.xid, m.work_id limit wanted;
end $$;
