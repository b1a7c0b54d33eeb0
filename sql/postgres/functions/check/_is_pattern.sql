-- Whether a text names topics, or types or streams of events: one of 1 to :topic_max characters, or a prefix and *. A *
-- in any other place would stand only for itself, and match next to nothing.
create or replace function :"schema"._is_pattern(pattern text) returns boolean
language plpgsql immutable :pinned as $$
begin
    return coalesce(pattern, '') <> '' and position('*' in left(pattern, -1)) = 0
       and char_length(rtrim(pattern, '*')) <= :topic_max;
end $$;
