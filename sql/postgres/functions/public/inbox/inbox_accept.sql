-- True: the message with this key is new, and done if the caller's transaction commits; make its effect in the same
-- one. False: it was accepted, or is a message of the inbox. A call that asks at the same time waits for the commit.
create or replace function :"schema".inbox_accept(source text, id text, content_hash text default null)
returns boolean language plpgsql volatile security definer :hot as $$
declare
    accepted record;
begin
    perform :"schema"._check_inbox_key('', source, id, content_hash);
    select * into accepted
    from :"schema"._inbox_accept(source, id, nullif(content_hash, ''), :"schema"._inbox_id(source, id));
    if accepted.hash_mismatch then
        perform :"schema"._warn_of_hash(source, id);
    end if;
    return accepted.is_new;
end $$;
