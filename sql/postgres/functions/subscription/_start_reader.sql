-- Puts the frontier of a subscription at a place: the end of the log (p_end), or the beginning of what is kept, from where on it
-- wants only what was stored at p_time or later, or has at least the work id p_id.
--
-- At the end that is what commits from now on, and so never skips what commits late. From the beginning claimers come past
-- everything. Messages that no frontier meets any more are parked: those that the main reader took or buried while the box had
-- no other reader (lane 2), and those from before the store was restored. The caller has locked out
-- whoever could move messages there (_add_reader), or all claimers of this reader (subscription_rewind).
create or replace function :"schema"._start_reader(p_reader smallint, p_end boolean, p_time timestamptz, p_id bigint) returns void
language plpgsql volatile :hot as $$
declare
    ts constant timestamptz := clock_timestamp();
    r :"schema".reader;
    f :"schema".frontier;
    mine record;
    start constant pg_snapshot := case when p_end then :"schema"._snapshot() else '1:1:'::pg_snapshot end;
    top constant bigint := case when p_end then coalesce(pg_sequence_last_value(':"schema".message_work_id_seq'), 0) else 0 end;
    waits constant text := :"schema"._wait_topic();
    ids bigint[];
begin
    select * into r from :"schema".reader x where x.number = p_reader;
    mine := :"schema"._split_patterns(r.patterns);
    for p_lane in 0 .. 1 loop
        f := :"schema"._frontier(r.box, p_lane::smallint);   -- the era and the clock of the main reader
        f.box := p_reader;
        f.log_box := r.box;
        f.seq := coalesce((select max(x.seq) + 1 from :"schema".frontier x where x.box = p_reader and x.lane = p_lane), 0);
        f.base := start;
        f.target := start;
        f.position_xid := '0';
        f.position_id := 0;
        f.lease_from := '-infinity';
        f.due_from := '-infinity';
        f.expiring_from := '-infinity';
        f.expired_from := '-infinity';
        f.look_at := '-infinity';
        f.pool_from := 0;
        f.whole := p_end and p_lane = 1;
        f.target_top := top;
        f.base_top := top;
        f.target_low := top;
        f.base_low := top;
        f.target_fence := null;
        f.base_fence := null;
        f.in_exact := mine.exact;
        f.in_prefixes := mine.prefixes;
        f.but_exact := null;
        f.but_prefixes := null;
        f.from_time := p_time;
        f.from_id := p_id;
        f.choosy := num_nonnulls(f.in_exact, f.in_prefixes, f.from_time, f.from_id) > 0;
        insert into :"schema".frontier select f.*;
        perform :"schema"._note_rule(f);
    end loop;
    if p_end then
        return;
    end if;
    ids := array(
        select m.work_id from (
            select m.* from :"schema".message m where m.box = r.box and m.lane = 2
            union all
            select m.* from :"schema".message m where m.box = r.box and m.lane < 2 and m.era <> f.era) m
        where :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                               m.topic, m.created_at, m.work_id)
          and not (m.lane = 2 and m.topic = waits)
          and not exists (select from :"schema".dead d where d.work_id = m.work_id and d.box = p_reader)
        order by m.work_id);
    if ids <> '{}' then
        perform :"schema"._unbury(p_reader, ids, true, ts);
    end if;
end $$;
