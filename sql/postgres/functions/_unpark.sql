-- Finished messages leave the parking lot, and their streams go on. A message that is finished though an earlier one of
-- its stream was handed out and is not, is noted down.
create or replace function :"schema"._unpark(p_box smallint, ids bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    keys text[];
    lasts bigint[];
begin
    with gone as (
        delete from :"schema".parked p where p.work_id = any (ids) returning p.work_id, p.stream)
    select array_agg(g.stream), array_agg(g.last_id) into keys, lasts
    from (select g.stream, max(g.work_id) as last_id from gone g where g.stream is not null group by g.stream) g;
    if keys is null then
        return;
    end if;
    insert into :"schema".stream_violation (at, box, stream, work_id, earlier_id)
    select ts, p_box, k.key, k.last_id, e.work_id
    from unnest(keys, lasts) k(key, last_id) cross join lateral (
        select p.work_id, p.epoch, p.retry_count from :"schema".parked p
        where p.box = p_box and p.stream >= k.key and p.stream <= k.key
        order by p.stream, p.work_id limit 1) e
    where e.work_id < k.last_id and (e.epoch is not null or e.retry_count > 0);
    perform :"schema"._streams_go_on(p_box, keys, ts);
end $$;
