-- The topics of a part's claim in the form that claims take: exact ones, and prefixes without their *; null = all.
create or replace function :"schema"._batch_topics(part jsonb, out exact text[], out prefixes text[])
language plpgsql immutable :pinned as $$
begin
    if jsonb_typeof(part #> '{claim,topics}') = 'array' and jsonb_array_length(part #> '{claim,topics}') > 0 then
        select coalesce(array_agg(t) filter (where t not like '%*'), '{}'),
               coalesce(array_agg(left(t, -1)) filter (where t like '%*'), '{}')
        into exact, prefixes from jsonb_array_elements_text(part #> '{claim,topics}') t;
    end if;
end $$;
