-- The message id that a key of the inbox stands for. The number of characters of the source keeps the two parts
-- apart. boxcar_inbox_message_id() in C computes the same.
create or replace function :"schema"._inbox_id(source text, external_id text) returns uuid
language plpgsql immutable :pinned as $$
begin
    return :"schema"._derive_id('boxcar:inbox:', char_length(source) || ':' || source || external_id);
end $$;
