-- As _refuse_message, for the other arguments of _enqueue_one.
create or replace function :"schema"._refuse_one(
    id uuid, topic text, payload text, stream text, correlation_id text, headers jsonb, due_at timestamptz,
    delay interval, ttl interval, max_attempts int, is_fresh boolean, join_id uuid, causation_id text default null,
    metadata jsonb default null, event_type text default null)
returns void language plpgsql volatile :pinned as $$
begin
    perform :"schema"._fault('', case
        when is_fresh is null then array['is_fresh', 'is null']
        when delay < '0' or delay > ':delay_days_max days'
            then array['delay', 'is out of range: give 0 to :delay_days_max days'] end);
    perform :"schema"._refuse_message(0::smallint, id, topic, payload, stream, correlation_id, headers, due_at, null, null,
                                 max_attempts, causation_id, metadata, event_type);
    perform :"schema"._check_message('', topic, payload, correlation_id, due_at, ttl, stream, headers, null, null,
                                max_attempts, join_id);
end $$;
