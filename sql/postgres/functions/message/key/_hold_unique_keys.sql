-- Locks the unique keys of messages that are going to be enqueued, in their order and before all other locks. Objects
-- that are no messages are refused later.
create or replace function :"schema"._hold_unique_keys(messages jsonb) returns void
language plpgsql volatile :hot as $$
declare
    keys uuid[] := array(
        select :"schema"._topic_key_id(m.o ->> 'topic', :"schema"._derive_id('boxcar:key:', m.o ->> 'key'))
        from jsonb_array_elements(messages) m(o) where m.o -> 'unique' = 'true'
          and jsonb_typeof(m.o -> 'topic') = 'string' and jsonb_typeof(m.o -> 'key') = 'string');
begin
    if keys <> '{}' then
        perform :"schema"._hold_keys(keys);
    end if;
end $$;
