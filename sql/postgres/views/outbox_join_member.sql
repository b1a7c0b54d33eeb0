-- The members of joins.
create or replace view :"schema".outbox_join_member as
select m.join_id, m.message_id, m.work_id,
       case m.status when 0 then 'pending' when 1 then 'completed' else 'failed' end as status, m.created_at
from :"schema"._join_member m;
