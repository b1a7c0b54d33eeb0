-- Policies: a row for each destination, with the figures of the subscription that does its work.
create or replace view :"schema".fanout as
select split_part(s.name, '/', 1) as name, d.destination, s.name as subscription, s.box, s.patterns, s.then_topic, s.else_topic, s."only",
       s.status, s.number, s.ready, s.in_progress, s.failed, s.oldest_unread_at, s.lag_seconds
from :"schema"._subscription_list(null, true) s, unnest(s.destinations) d(destination);
