-- Does a reader want this message? The first arguments are those of its frontier; choosy false: it wants everything. Never null, and
-- without a subquery, so that the planner can put it in place.
create or replace function :"schema"._reads(
    choosy boolean, exact text[], prefixes text[], but_exact text[], but_prefixes text[], from_time timestamptz, from_id bigint,
    topic text, created_at timestamptz, work_id bigint) returns boolean
language sql immutable as $$
    select not choosy
        or (exact is null and prefixes is null or coalesce(topic = any (exact), false) or coalesce(topic ^@ any (prefixes), false))
           and not coalesce(topic = any (but_exact), false) and not coalesce(topic ^@ any (but_prefixes), false)
           and coalesce(created_at >= from_time, true) and coalesce(work_id >= from_id, true)
$$;
