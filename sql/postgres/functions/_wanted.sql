-- Does a claimer want this topic? Both lists null: it wants everything.
create or replace function :"schema"._wanted(topic text, exact text[], prefixes text[]) returns boolean
language sql immutable as $$
    select (exact is null and prefixes is null)
        or topic = any (exact)
        or exists (select from unnest(prefixes) p where starts_with(topic, p))
$$;
