-- Workers that were heard of lately, with the topics they handle: a row for each reader that a worker serves. Live workers
-- also have their rank among those that handle the same topics there, and the partitions of streams that belong to
-- them.
create or replace view :"schema"._instance as
select r.instance_id, case d.box when 0 then 'outbox' else 'inbox' end as box, r.host, r.pid, r.concurrency,
       r.exact || array(select p || '*' from unnest(r.prefixes) with ordinality u(p, n) order by u.n) as topics,
       r.started_at, greatest(r.seen_at, s.seen_at) as seen_at, p.rank, p.first_partition, p.partition_count,
       r.box as reader, d.name::text as reader_name
from :"schema".instance_row r join :"schema".reader d on d.number = r.box
left join lateral (
    select s.seen_at from :"schema".instance_sign s where s.instance_id = r.instance_id
    order by s.seen_at desc limit 1) s on true
left join (
    select l.instance_id, l.box, l.rank::int, (l.rank * l.partitions / l.n)::int as first_partition,
           least(((l.rank + 1) * l.partitions / l.n - l.rank * l.partitions / l.n), nullif(l.cap, 0))::int as partition_count
    from (select x.instance_id, x.box, row_number() over w - 1 as rank, count(*) over (partition by x.box, x.exact, x.prefixes) as n,
                 coalesce((select s.number from :"schema".setting s where s.name = 'partition_count'), 10000)::bigint
                     as partitions,
                 coalesce((select s.number from :"schema".setting s where s.name = 'partitions_per_instance_max'), 0)::bigint
                     as cap
          from :"schema".instance_row x where x.seen_at > clock_timestamp() - make_interval(secs => coalesce((
              select s.number from :"schema".setting s where s.name = 'instance_timeout'), 30000) / 1000)
          window w as (partition by x.box, x.exact, x.prefixes order by x.instance_id)) l) p
    on p.instance_id = r.instance_id and p.box = r.box;
