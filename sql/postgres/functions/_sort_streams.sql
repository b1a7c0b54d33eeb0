-- Sorts the streamed lane's new messages into parked, and makes sure each stream has its row.
-- Returns true when the window is sorted in whole. Only then may heads be handed out: within a
-- window the order of transaction ids says nothing about the order of enqueueing, so a window cut
-- in the middle would let a later message overtake an earlier one (BX-060). Only under the turn.
create or replace function :"schema"._sort_streams(p_box smallint, ts timestamptz) returns boolean
language plpgsql volatile :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    chunk constant int := 5000;
    partitions int;
    seen bigint[];
    rows_seen bigint;
    last_xid xid8;
    last_id bigint;
    advanced boolean := false;
    moved boolean := false;
begin
    -- Stores without streams get past here with one look into an empty index range.
    if pg_snapshot_xmin(f.base) = pg_snapshot_xmax(f.base) and not exists (
        select from :"schema".message m where m.box = p_box and m.lane = 1 and m.era = f.era
          and m.xid >= pg_snapshot_xmax(f.base)) then
        return true;
    end if;
    partitions := :"schema"._setting('partition_count', 10000);
    loop
        with w as materialized (select * from :"schema"._window(f, chunk)),
        aside as (
            insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
            select w.work_id, p_box, greatest(w.due_at, ts), w.expires_at, w.topic, w.stream
            from w where not f.skip @> w.work_id),
        rows_of_streams as (
            insert into :"schema".stream (box, key, available_at, topic, partition)
            select p_box, n.stream, ts, n.topic, :"schema"._partition(n.stream, partitions)
            from (select w.stream, (array_agg(w.topic order by w.work_id))[1] as topic from w group by w.stream) n
            left join lateral (
                select s.key from :"schema".stream s where s.box = p_box and s.key = n.stream limit 1) s on true
            where s.key is null),
        -- A stream that waits for a head's time is looked at again: an earlier message may have come. So is one
        -- whose head is said to have another topic. One that is locked just now is being settled, and whoever
        -- settles it has it looked at again too.
        changed as materialized (
            select s.key from (select w.stream, (array_agg(w.topic order by w.work_id))[1] as topic from w group by w.stream) n
            cross join lateral (
                select s.key from :"schema".stream s
                where s.box = p_box and s.key = n.stream and (s.available_at > ts or s.topic <> n.topic)
                  and s.available_at is not null
                limit 1 for update skip locked) s),
        woken as (
            update :"schema".stream s set available_at = least(s.available_at, ts), topic = null
            from changed x where s.box = p_box and s.key = x.key)
        select array_agg(w.work_id) as ids, count(*), max(w.xid), (array_agg(w.work_id order by w.xid desc, w.work_id desc))[1]
        into seen, rows_seen, last_xid, last_id from w;
        if rows_seen > 0 then
            moved := true;
            f.position_xid := last_xid;
            f.position_id := last_id;
            f.skip := f.skip - :"schema"._multirange(seen);
        end if;
        exit when rows_seen >= chunk or advanced;
        f.base := f.target;
        f.target := :"schema"._snapshot();
        f.position_xid := '0';
        f.position_id := 0;
        advanced := true;
    end loop;
    if moved then
        f.seq := f.seq + 1;
        insert into :"schema".frontier select f.*;
        if f.seq % 64 = 0 then
            delete from :"schema".frontier x
            where x.box = p_box and x.lane = 1 and x.seq between f.seq - 256 and f.seq - 64;
        end if;
    end if;
    return rows_seen < chunk;
end $$;
