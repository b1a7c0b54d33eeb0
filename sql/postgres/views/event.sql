-- Events. position is null until a reader of all events, or upkeep, has given it out.
create or replace view :"schema".event as
select e.event_id, e.stream, e.version, p.position, e.type, e.payload, e.headers, e.correlation_id, e.created_at, e.causation_id
from :"schema".event_row e left join lateral (
    select r.first_position + (e.event_no - r.first_id) as position
    from (select * from :"schema".event_run x where x.first_id <= e.event_no order by x.first_id desc limit 1) r
    where r.last_id >= e.event_no) p on true;
