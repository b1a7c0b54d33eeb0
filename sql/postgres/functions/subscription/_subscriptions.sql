-- What workers of version 15 ask for (_subscription_list).
create or replace function :"schema"._subscriptions(p_name text default null)
returns table (name text, number int, box text, patterns text[], "only" boolean, status text, created_at timestamptz, start_at text,
               paused_at timestamptz, rewound_at timestamptz, max_lag interval, max_lag_count bigint, ready bigint, in_progress bigint,
               failed bigint, oldest_unread_at timestamptz, lag_seconds double precision, held_messages bigint)
language sql stable security definer :pinned as $$
    select s.name, s.number, s.box, s.patterns, s."only", s.status, s.created_at, s.start_at, s.paused_at, s.rewound_at, s.max_lag,
           s.max_lag_count, s.ready, s.in_progress, s.failed, s.oldest_unread_at, s.lag_seconds, s.held_messages
    from :"schema"._subscription_list(p_name) s
$$;
