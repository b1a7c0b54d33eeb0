-- Members with their outcome, wherever it is written.
create or replace view :"schema"._join_member as
select m.ctid as tid, m.join_id, m.message_id, m.work_id, m.created_at, m.check_at,
       case when m.status <> 0 then m.status else coalesce((
           select case when o.last_id >= m.work_id then o.status end from :"schema".join_outcome o
           where o.join_id = m.join_id and o.first_id <= m.work_id order by o.first_id desc limit 1), 0::smallint)
       end as status
from :"schema".join_member m;
