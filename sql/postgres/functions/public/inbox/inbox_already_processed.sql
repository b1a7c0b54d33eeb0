-- Has the message with this key been processed? Records that the key was seen, and when.
create or replace function :"schema".inbox_already_processed(source text, id text, content_hash text default null)
returns boolean language plpgsql volatile security definer :hot as $$
declare
    seen record;
begin
    perform :"schema"._check_inbox_key('', source, id, content_hash);
    select * into seen from :"schema"._inbox_look(source, id, nullif(content_hash, ''), :"schema"._inbox_id(source, id));
    if seen.hash_mismatch then
        perform :"schema"._warn_of_hash(source, id);
    end if;
    return seen.processed;
end $$;
