-- Enqueues an array of objects with the names of enqueue's arguments, in one statement. Everything has been checked.
-- Returns the result of each, in order.
create or replace function :"schema"._enqueue_objects(messages jsonb) returns jsonb
language plpgsql volatile :hot as $$
declare
    given record;
begin
    if messages = '[]' then
        return '[]'::jsonb;
    end if;
    given := :"schema"._read_messages(messages, 0::smallint);
    return (
        select jsonb_agg(jsonb_build_object('work_id', r.work_id, 'message_id', r.message_id, 'duplicate', r.duplicate)
                         order by r.n)
        from :"schema"._enqueue_messages(
            0::smallint, given.ids, given.topics, given.payloads, given.correlations, given.streams, given.headers,
            given.dues, null, given.ttls, given.attempts, given.is_fresh, given.joins, null, null, given.others,
            given.uniques,
            given.causations, given.event_types, given.metadata) with ordinality r(work_id, message_id, duplicate, n));
end $$;
