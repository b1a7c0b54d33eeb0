-- Locks the unique keys of messages that a batch is going to enqueue: keys come before all other locks.
create or replace function :"schema"._hold_unique_keys(messages jsonb) returns void
language plpgsql volatile :hot as $$
declare
    keys uuid[] := array(
        select :"schema"._topic_key_id(m.o ->> 'topic', :"schema"._derive_id('boxcar:key:', m.o ->> 'key'))
        from jsonb_array_elements(messages) m(o) where m.o -> 'unique' = 'true');
begin
    if keys <> '{}' then
        perform :"schema"._hold_keys(keys);
    end if;
end $$;
