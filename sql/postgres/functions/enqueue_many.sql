-- Enqueues an array of objects with the names of enqueue's arguments; one result row each, in order.
create or replace function :"schema".enqueue_many(messages jsonb)
returns setof :"schema".enqueue_result language plpgsql volatile security definer :hot as $$
declare
    item record;
begin
    if messages is null or jsonb_typeof(messages) <> 'array' then
        perform :"schema"._invalid('messages', 'must be a JSON array of objects');
    end if;
    perform :"schema"._hold_unique_keys(messages);
    for item in select e.value as object, e.ordinality - 1 as n
                from jsonb_array_elements(messages) with ordinality e(value, ordinality)
    loop
        if jsonb_typeof(item.object) <> 'object' then
            perform :"schema"._invalid(format('messages[%s]', item.n), 'must be an object');
        end if;
        perform :"schema"._check_names(format('messages[%s].', item.n), item.object, '{topic,correlation_id,stream,key}',
                                       '{payload,due_at,ttl,headers,message_id,max_attempts,join_id,unique}');
        return next :"schema"._enqueue_object(item.object, format('messages[%s].', item.n));
    end loop;
end $$;
