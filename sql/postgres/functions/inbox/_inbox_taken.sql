-- Raises the error that another message has the id that stands for a key of the inbox.
create or replace function :"schema"._inbox_taken(p_id uuid) returns void
language plpgsql immutable :pinned as $$
begin
    raise exception using errcode = 'BX003',
        message = format('another message has the id %s, which stands for this key', p_id);
end $$;
