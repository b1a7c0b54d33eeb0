-- The topic of the messages that wait for joins.
create or replace function :"schema"._wait_topic() returns text
language plpgsql stable :pinned as $$
begin
    return coalesce((select s.text from :"schema".setting s where s.name = 'join_wait_topic'), 'join.wait');
end $$;
