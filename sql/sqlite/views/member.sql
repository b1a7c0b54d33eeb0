-- Members with their outcome. It is in the member's own row, or in the run of outcomes that holds its work id: the last
-- run of its join that starts at or before that id.
drop view if exists boxcar_member;
create view boxcar_member as
select m.join_id, m.message_id, m.work_id,
       case when m.status <> 0 then m.status
            else coalesce((select case when o.last_id >= m.work_id then o.status end from boxcar_join_outcome o
                           where o.join_id = m.join_id and o.first_id <= m.work_id
                           order by o.first_id desc limit 1), 0) end as status,
       m.created_at
from boxcar_join_member m;
