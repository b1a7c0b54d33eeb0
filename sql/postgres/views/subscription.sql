-- Subscriptions with their figures (_subscription_list).
create or replace view :"schema".subscription as
select s.name, s.box, s.patterns, s."only", s.status, s.created_at, s.start_at, s.number, s.ready, s.in_progress, s.failed,
       s.oldest_unread_at, s.lag_seconds, s.held_messages, s.max_lag, s.max_lag_count, s.paused_at, s.rewound_at
from :"schema"._subscription_list() s;
