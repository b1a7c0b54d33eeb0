-- Workers that were heard of lately. instance_id is the owner of their leases, if the caller may see it (_sees_owners).
create or replace view :"schema".instance as
select case when (select :"schema"._sees_owners()) then i.instance_id else :"schema"._veil(i.instance_id) end as instance_id,
       i.box, i.host, i.pid, i.concurrency, i.topics, i.started_at, i.seen_at, i.rank, i.first_partition,
       i.partition_count,
       case when i.reader > 1 then i.reader_name end as subscription
from :"schema"._instance i;
