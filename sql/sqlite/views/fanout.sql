-- Policies, as people read them: a row for each destination. Those of a policy with a then_topic share a subscription, and its
-- figures.
drop view if exists boxcar_fanout;
create view boxcar_fanout as
select substr(s.name, 1, instr(s.name, '/') - 1) as name, d.value as destination, s.name as subscription, s.box, s.patterns,
       r.then_topic, r.else_topic, s."only", s.status, s.number, s.ready, s.in_progress, s.failed, s.oldest_unread_at, s.lag_seconds
from boxcar_subscription s
join boxcar_reader r on r.number = s.number and r.destinations is not null
join json_each(case when json_valid(r.destinations) then r.destinations else '[]' end) d;
