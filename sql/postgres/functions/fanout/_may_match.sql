-- Whether a topic, or one of those with a prefix, matches a pattern.
create or replace function :"schema"._may_match(stem text, is_prefix boolean, pattern text) returns boolean
language plpgsql immutable :pinned as $$
begin
    return case when pattern not like '%*' then case when is_prefix then starts_with(pattern, stem) else pattern = stem end
                when is_prefix then starts_with(stem, left(pattern, -1)) or starts_with(left(pattern, -1), stem)
                else starts_with(stem, left(pattern, -1)) end;
end $$;
