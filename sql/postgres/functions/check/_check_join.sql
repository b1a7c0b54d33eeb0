-- The rules for the id of a join, and for those of messages given with it.
create or replace function :"schema"._check_join(join_id uuid, argument text, message_ids uuid[]) returns void
language plpgsql immutable :pinned as $$
begin
    perform :"schema"._fault('', case
        when coalesce(join_id, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000'
            then array['join_id', 'is missing or the nil UUID']
        when argument is not null and (message_ids is null or exists (
                 select from unnest(message_ids) m
                 where coalesce(m, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000'))
            then array[argument, 'is missing, or has a null or the nil UUID'] end);
end $$;
