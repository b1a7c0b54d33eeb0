-- Streams with unfinished messages that a claimer has met, and halted streams.
create or replace view :"schema".stream_state as
select case r.box when 0 then 'outbox' else 'inbox' end as box, v.key::text as stream, v.state, v.partition, v.head,
       v.topic, v.available_at, v.retry_count,
       case when (select :"schema"._sees_owners()) then v.owner else :"schema"._veil(v.owner) end as owner, v.halted_at, v.halted_by,
       case when v.box > 1 then r.name::text end as subscription
from :"schema"._stream_state v join :"schema".reader r on r.number = v.box;
