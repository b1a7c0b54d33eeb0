-- Stores an array of objects with the names of inbox_enqueue's arguments, all or none; one result row each, in
-- order. A key that comes twice is stored once.
create or replace function :"schema".inbox_enqueue_many(messages jsonb)
returns setof :"schema".inbox_enqueue_result language plpgsql volatile security definer :hot as $$
begin
    if messages is null or jsonb_typeof(messages) <> 'array' then
        perform :"schema"._invalid('messages', 'must be a JSON array of objects');
    end if;
    return query select * from :"schema"._inbox_enqueue_objects(messages);
end $$;
