-- As _refuse_message, for a key of the inbox.
create or replace function :"schema"._refuse_key(source text, external_id text, content_hash text)
returns boolean language plpgsql volatile :pinned as $$
begin
    perform :"schema"._check_inbox_key('', source, external_id, content_hash);
    return true;
end $$;
