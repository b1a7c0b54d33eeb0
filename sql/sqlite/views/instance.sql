-- The workers that are running, as people read them: a row for each box that a worker serves. Live workers also have
-- their rank among those that handle the same topics there, and the partitions of streams that belong to them.
drop view if exists boxcar_instance;
create view boxcar_instance as
select lower(substr(hex(i.instance_id), 1, 8) || '-' || substr(hex(i.instance_id), 9, 4) || '-' || substr(hex(i.instance_id), 13, 4)
             || '-' || substr(hex(i.instance_id), 17, 4) || '-' || substr(hex(i.instance_id), 21, 12)) as instance_id,
       (select r.name from boxcar_reader r where r.number = i.box) as box,
       i.host,
       i.pid,
       i.concurrency,
       i.topics,
       strftime('%Y-%m-%dT%H:%M:%S', i.started_at / 1000000, 'unixepoch')
           || printf('.%06dZ', i.started_at % 1000000) as started_at,
       strftime('%Y-%m-%dT%H:%M:%S', i.seen_at / 1000000, 'unixepoch')
           || printf('.%06dZ', i.seen_at % 1000000) as seen_at,
       l.rank,
       l.rank * l.partitions / l.workers as first_partition,
       case when l.cap > 0 then min(l.cap, (l.rank + 1) * l.partitions / l.workers - l.rank * l.partitions / l.workers)
            else (l.rank + 1) * l.partitions / l.workers - l.rank * l.partitions / l.workers end as partition_count
from boxcar_instance_row i
left join (
    select instance_id, box, row_number() over (partition by box, topics order by instance_id) - 1 as rank,
           count(*) over (partition by box, topics) as workers,
           cast(coalesce((select number from boxcar_setting where name = 'partitions_in_use'),
                         (select number from boxcar_setting where name = 'partition_count'), 10000) as integer) as partitions,
           cast(coalesce((select number from boxcar_setting where name = 'partitions_per_instance_max'), 0) as integer) as cap
    from boxcar_instance_row
    where seen_at > cast((julianday('now') - 2440587.5) * 86400000000 as integer) - 1000 * cast(coalesce(
              (select number from boxcar_setting where name = 'instance_timeout'), 30000) as integer)) l
on l.instance_id = i.instance_id and l.box = i.box;
