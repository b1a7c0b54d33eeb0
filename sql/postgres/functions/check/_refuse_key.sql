-- As _refuse_message, for a key of the inbox and the id that derives from it.
create or replace function :"schema"._refuse_key(source text, external_id text, content_hash text, id uuid)
returns boolean language plpgsql volatile :pinned as $$
begin
    perform :"schema"._check_inbox_key('', source, external_id, content_hash);
    if coalesce(id, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000' then
        perform :"schema"._invalid('message_id', 'is missing or the nil UUID');
    end if;
    return true;
end $$;
