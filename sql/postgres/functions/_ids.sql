-- The work ids in a multirange.
create or replace function :"schema"._ids(items int8multirange) returns setof bigint
language sql immutable rows 100 as $$
    select generate_series(lower(r), upper(r) - 1) from unnest(items) r
$$;
