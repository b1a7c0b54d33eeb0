-- Which messages are kept for which subscriptions: what a reader has not met and wants, and what it knows. A dead letter or
-- one that is done is known until its own retention has passed.
drop view if exists boxcar_wanted;
create view boxcar_wanted as
select r.number as reader, m.work_id
from boxcar_message m
cross join boxcar_reader r on r.number > 1 and r.name is not null and r.box = m.box
cross join boxcar_frontier f on f.box = r.number
where m.work_id > f.position
      and exists (select 1 from json_each(case when json_valid(r.patterns) then r.patterns else '[]' end) t
                  where t.value = m.topic or substr(t.value, -1) = '*'
                    and substr(m.topic, 1, length(t.value) - 1) = substr(t.value, 1, length(t.value) - 1))
      and not exists (select 1 from boxcar_reader_skip k where k.box = r.number and k.work_id = m.work_id)
      and (m.box = 1
           or m.topic <> coalesce((select text from boxcar_setting where name = 'join_wait_topic'), 'join.wait'))
   or exists (select 1 from boxcar_reader_parked p where p.box = r.number and p.work_id = m.work_id)
   or exists (select 1 from boxcar_reader_lease l where l.box = r.number and l.work_id = m.work_id)
   or exists (select 1 from boxcar_reader_dead d where d.box = r.number and d.work_id = m.work_id)
   or exists (select 1 from boxcar_reader_finished d where d.box = r.number and d.first_id =
       (select max(e.first_id) from boxcar_reader_finished e where e.box = r.number and e.first_id <= m.work_id)
       and d.last_id >= m.work_id);
