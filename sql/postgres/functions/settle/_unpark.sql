-- Finished messages leave the parking lot, and their streams go on. If an earlier message of the stream was handed out
-- and is not finished, this notes it as a violation. epochs: of the leases from which the messages were taken.
create or replace function :"schema"._unpark(p_box smallint, ids bigint[], epochs bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    keys text[];
    lasts bigint[];   -- the last finished message of each
    log constant smallint := case when p_box < 2 then p_box else :"schema"._log_box(p_box) end;
begin
    -- Most messages of streams come straight from the log: one look tells that none is parked between the first and the
    -- last.
    if exists (select from (select min(i) as first_id, max(i) as last_id from unnest(ids) i) b cross join lateral (
                   select from :"schema".parked p where p.work_id >= b.first_id and p.work_id <= b.last_id and p.box = p_box limit 1) p) then
        with gone as (
            delete from :"schema".parked p where p.work_id = any (ids) and p.box = p_box returning p.stream)
        select array_agg(distinct g.stream) into keys from gone g where g.stream is not null;
    end if;
    if not exists (select from :"schema".lease l where l.box = p_box and l.epoch = any (epochs)) then
        keys := :"schema"._free_runs(p_box, epochs, keys, ts);   -- mostly: all messages of the claims are settled
        if keys is null then
            perform :"schema"._end_quiet(p_box);
            return;
        end if;
    elsif keys is null and not exists (select from :"schema".stream s where s.epoch = any (epochs)) then
        return;
    else
        keys := null;   -- all streams of the messages
    end if;
    select array_agg(m.stream), array_agg(m.last_id) into keys, lasts
    from (select m.stream, max(m.work_id) as last_id
          from unnest(ids) i cross join lateral (
              select m.stream, m.work_id from :"schema".message m where m.work_id = i and m.stream is not null limit 1) m
          where keys is null or m.stream = any (keys)
          group by m.stream) m;
    insert into :"schema".stream_violation (at, box, stream, work_id, earlier_id)
    select ts, p_box, k.key, k.last_id, e.work_id
    from unnest(keys, lasts) k(key, last_id) cross join lateral (
        select s.taken_from, s.epoch from :"schema".stream s where s.box = p_box and s.key = k.key limit 1) s
    cross join lateral (
        select x.work_id from (
            (select p.work_id, p.epoch is not null or p.retry_count > 0 as is_known from :"schema".parked p
             where p.box = p_box and p.stream >= k.key and p.stream <= k.key
             order by p.stream, p.work_id limit 1)
            union all
            select m.work_id, true from :"schema".lease l cross join lateral (
                select m.work_id from :"schema".message m
                where m.box = log and m.lane = 1 and m.stream = k.key
                  and m.work_id > s.taken_from and m.work_id < k.last_id and l.items @> m.work_id limit 1) m
            where l.box = p_box and l.epoch = s.epoch) x
        where x.is_known and x.work_id < k.last_id limit 1) e;
    perform :"schema"._advance_streams(p_box, keys, ts);
end $$;
