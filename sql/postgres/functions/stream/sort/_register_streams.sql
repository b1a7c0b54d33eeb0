-- Claimers come past these messages of streams: afterwards each stream has its row, and is looked at again if what is
-- known of its head may be wrong now. A message that comes late, at or before its stream's position, is parked, and so
-- comes next. Arrays go together by position. f: the window in which they were met; late_count: how many of them, from
-- the first on, may be late; is_last: the window has no more. Only under the turn.
--
-- A new row's position is before all messages of the stream that are new in this window. It is after all that may be
-- finished: otherwise they would be found in the log again.
create or replace function :"schema"._register_streams(
    f :"schema".frontier, streams text[], topics text[], ids bigint[], late_count bigint, is_last boolean, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    partitions constant int := :"schema"._setting('partition_count', 10000);
    changed text[];
    late bigint[];
begin
    with first as materialized (
        select i.stream as key, min(i.id) as id, max(i.id) as last_id, min(i.id) filter (where i.n <= late_count) as late_id,
               case when is_last and min(i.topic collate "C") = max(i.topic collate "C") then min(i.topic collate "C") end as topic
        from unnest(streams, topics, ids) with ordinality i(stream, topic, id, n) group by i.stream),
    met as materialized (
        select n.key, n.id, n.last_id, n.late_id, n.topic, s.position, s.available_at, s.topic as known_topic from first n left join lateral (
            select s.position, s.available_at, s.topic from :"schema".stream s where s.box = f.box and s.key = n.key limit 1) s on true),
    made as materialized (
        select m.key, m.id, m.late_id, m.topic, greatest(m.low, case when m.low < f.base_top then (
                   select max(x.work_id) from :"schema".message x
                   where x.box = f.log_box and x.lane = 1 and x.stream >= m.key and x.stream <= m.key and x.era = f.era
                     and x.work_id > m.low and x.work_id <= f.base_top and pg_visible_in_snapshot(x.xid, f.base)) end) as position
        from (select m.*, least(f.base_low, m.late_id - 1) as low from met m where m.position is null) m),
    added as (
        insert into :"schema".stream (box, key, available_at, topic, partition, position, taken_from)
        select f.box, m.key, ts,
               case when coalesce(m.position < m.late_id, true) then coalesce(m.topic, (   -- of its head
                   select x.topic from :"schema".message x
                   where x.box = f.log_box and x.lane = 1 and x.stream >= m.key and x.stream <= m.key and x.era = f.era
                     and x.work_id > m.position and x.work_id <= f.target_top and pg_visible_in_snapshot(x.xid, f.target)
                     and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                          x.topic, x.created_at, x.work_id)
                   order by x.stream, x.work_id limit 1)) end,
               :"schema"._partition(m.key, partitions), m.position, m.position
        from made m order by m.id),
    overtaken as materialized (   -- few
        select m.key, m.position from met m where m.position >= m.late_id
        union all
        select m.key, m.position from made m where m.position >= m.late_id),
    late_in as (
        select i.id from unnest(streams, ids) with ordinality i(stream, id, n) join overtaken s on s.key = i.stream
        where i.n <= late_count and i.id <= s.position)
    select (select array_agg(l.id) from late_in l),
           -- The row of a stream tells when its head is due and of which topic it is. An earlier message may have come.
           -- Messages that were taken before they were met change nothing.
           array_agg(m.key) filter (where m.available_at > ts and m.last_id > m.position or m.available_at is not null and m.late_id is not null
                                                             and (m.known_topic is not null or m.position >= m.late_id))
    into late, changed from met m where m.position is not null;
    if late is not null then
        insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
        select m.work_id, f.box, greatest(m.due_at, ts), m.expires_at, m.topic, m.stream
        from :"schema".message m where m.work_id = any (late);
    end if;
    if changed is not null then
        insert into :"schema".stream_note (box, key)
        select f.box, k from unnest(:"schema"._wake_streams(f.box, changed, ts)) k;
    end if;
end $$;
