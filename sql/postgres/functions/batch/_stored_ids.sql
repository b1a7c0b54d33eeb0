-- The work ids of the messages that a batch has stored itself, without duplicates.
create or replace function :"schema"._stored_ids(answer jsonb) returns bigint[]
language plpgsql immutable :pinned as $$
begin
    return array(select (e.o ->> 'work_id')::bigint from jsonb_array_elements(answer -> 'messages') e(o)
                 where e.o -> 'duplicate' = 'false');
end $$;
