-- The rules for a key of the inbox and the hash that may come with it. place: prefix of the arguments' names.
create or replace function :"schema"._check_inbox_key(place text, source text, id text, content_hash text)
returns void language plpgsql immutable :pinned as $$
declare
    fault constant text[] := case
        when coalesce(source, '') = '' then array['source', 'is empty: give 1 to :source_max characters']
        when char_length(source) > :source_max then array['source', 'is longer than :source_max characters']
        when coalesce(id, '') = '' then array['id', 'is empty: give 1 to :external_id_max characters']
        when char_length(id) > :external_id_max then array['id', 'is longer than :external_id_max characters']
        when char_length(content_hash) > :content_hash_max
            then array['content_hash', 'is longer than :content_hash_max characters'] end;
begin
    if fault is not null then
        perform :"schema"._invalid(place || fault[1], fault[2]);
    end if;
end $$;
