-- The topics that a policy may give to the messages that it stores here: exact ones, and prefixes. Of a destination with {topic} that
-- is what stands before the first one and the pattern, or for an exact pattern the whole topic.
create or replace function :"schema"._copy_topics(patterns text[], destinations text[], then_topic text, else_topic text)
returns table (stem text, is_prefix boolean) language plpgsql immutable :pinned as $$
begin
    return query
        select t, false from unnest(array[then_topic, else_topic]) t where t is not null
        union
        select d, false from unnest(destinations) d where :"schema"._is_local(d) and position('{topic}' in d) = 0
        union
        select case when p like '%*' then split_part(d, '{topic}', 1) || left(p, -1) else replace(d, '{topic}', p) end, p like '%*'
        from unnest(destinations) d, unnest(patterns) p
        where :"schema"._is_local(d) and position('{topic}' in d) > 0;
end $$;
