-- For a message that looks unusual to the statement that stores it: raises BX001 if it has a fault, or returns true
-- when it is only large. Roles can call functions that trust the library to have checked everything, so those
-- statements look once more, by a cheap condition. A constraint of the table would show the whole row, payload
-- included, in the error and in the server's log. Volatile, so that no planner calls it in advance.
create or replace function :"schema"._refuse_message(
    p_box smallint, id uuid, topic text, payload text, stream text, correlation_id text, headers jsonb, due_at timestamptz,
    delay_ms bigint, ttl_ms bigint, max_attempts int, causation_id text default null, metadata jsonb default null,
    event_type text default null)
returns boolean language plpgsql volatile :pinned as $$
declare
    fault constant text[] := case
        when p_box is null or p_box not in (0, 1) then array['box', 'must be 0 or 1']
        when coalesce(id, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000'
            then array['message_id', 'is missing or the nil UUID']
        when stream = '' then array['stream', 'is empty: give 1 to :stream_max characters, or null']
        when delay_ms not between 0 and :delay_ms_max then array['delay', 'is out of range: give 0 to :delay_days_max days']
        when ttl_ms not between 0 and :delay_ms_max
            then array['ttl', 'is out of range: give more than 0 and at most :delay_days_max days'] end;
begin
    if fault is not null then
        perform :"schema"._invalid(fault[1], fault[2]);
    end if;
    perform :"schema"._check_message('', topic, payload, correlation_id, due_at, null, stream, headers, null, null,
                                max_attempts, null, causation_id, metadata, null, event_type);
    return true;
end $$;
