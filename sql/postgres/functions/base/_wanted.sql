-- Does a claimer want this topic? Both lists null: it wants everything. Never null, and without a
-- subquery, so that the planner can put it in place.
create or replace function :"schema"._wanted(topic text, exact text[], prefixes text[]) returns boolean
language sql immutable as $$
    select (exact is null and prefixes is null)
        or coalesce(topic = any (exact), false) or coalesce(topic ^@ any (prefixes), false)
$$;
