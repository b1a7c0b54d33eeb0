-- The topic of a schedule's messages.
create or replace function :"schema"._slice_topic(topic text, work_key text) returns text
language plpgsql immutable :pinned as $$
begin
    return format('fanout:%s:%s', topic, work_key);
end $$;
