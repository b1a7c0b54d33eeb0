-- Enqueues an array of objects with the names of enqueue's arguments, all or none; one result row each, in order.
create or replace function :"schema".enqueue_many(messages jsonb)
returns setof :"schema".enqueue_result language plpgsql volatile security definer rows 1000 :hot as $$
declare
    given record;
begin
    if messages is null or jsonb_typeof(messages) <> 'array' then
        perform :"schema"._invalid('messages', 'must be a JSON array of objects');
    end if;
    given := :"schema"._read_messages(messages, 0::smallint);
    if given.is_usual is not true then
        perform :"schema"._check_object(e.value, format('messages[%s]', e.ordinality - 1), 0::smallint)
        from jsonb_array_elements(messages) with ordinality e(value, ordinality) order by e.ordinality;
        if messages = '[]' then
            return;
        end if;
    end if;
    return query select * from :"schema"._enqueue_messages(
        0::smallint, given.ids, given.topics, given.payloads, given.correlations, given.streams, given.headers, given.dues,
        null, given.ttls, given.attempts, given.is_fresh, given.joins, null, null, given.others, given.uniques,
        given.causations, given.event_types, given.metadata);
end $$;
