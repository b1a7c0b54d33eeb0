-- Workers that were heard of lately, with the topics they handle: a row for each box that one serves.
create or replace view :"schema".instance as
select r.instance_id, case r.box when 0 then 'outbox' else 'inbox' end as box, r.host, r.pid, r.concurrency,
       r.exact || array(select p || '*' from unnest(r.prefixes) with ordinality u(p, n) order by u.n) as topics,
       r.started_at, r.seen_at
from :"schema".instance_row r;
