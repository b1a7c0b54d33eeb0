-- Marks a key as done in the caller's transaction. True: the key is new; make the effect of its message in the same
-- transaction. False: the key was accepted before, or the inbox has a message with it. If two transactions accept a
-- key at the same time, one waits for the end of the other.
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
