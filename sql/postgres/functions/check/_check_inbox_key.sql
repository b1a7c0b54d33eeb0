-- The rules for a key of the inbox and the hash that may come with it. place: prefix of the arguments' names.
create or replace function :"schema"._check_inbox_key(place text, source text, id text, content_hash text)
returns void language plpgsql immutable :pinned as $$
begin
    if coalesce(source, '') = '' then
        perform :"schema"._invalid(place || 'source', 'is empty: give 1 to :source_max characters');
    elsif char_length(source) > :source_max then
        perform :"schema"._invalid(place || 'source', 'is longer than :source_max characters');
    end if;
    if coalesce(id, '') = '' then
        perform :"schema"._invalid(place || 'id', 'is empty: give 1 to :external_id_max characters');
    elsif char_length(id) > :external_id_max then
        perform :"schema"._invalid(place || 'id', 'is longer than :external_id_max characters');
    end if;
    if char_length(content_hash) > :content_hash_max then
        perform :"schema"._invalid(place || 'content_hash', 'is longer than :content_hash_max characters');
    end if;
end $$;
