-- How many work ids a multirange holds.
create or replace function :"schema"._size(items int8multirange) returns bigint
language sql immutable as $$
    select coalesce(sum(upper(r) - lower(r)), 0)::bigint from unnest(items) r
$$;
