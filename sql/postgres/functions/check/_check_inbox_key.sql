-- The rules for a key of the inbox and the hash that may come with it. place: prefix of the arguments' names.
create or replace function :"schema"._check_inbox_key(place text, source text, id text, content_hash text)
returns void language plpgsql immutable :pinned as $$
begin
    if coalesce(source, '') = '' then
        perform :"schema"._invalid(place || 'source', 'is empty: give 1 to 255 characters');
    elsif char_length(source) > 255 then
        perform :"schema"._invalid(place || 'source', 'is longer than 255 characters');
    end if;
    if coalesce(id, '') = '' then
        perform :"schema"._invalid(place || 'id', 'is empty: give 1 to 255 characters');
    elsif char_length(id) > 255 then
        perform :"schema"._invalid(place || 'id', 'is longer than 255 characters');
    end if;
    if char_length(content_hash) > 255 then
        perform :"schema"._invalid(place || 'content_hash', 'is longer than 255 characters');
    end if;
end $$;
