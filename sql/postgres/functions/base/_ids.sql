-- The work ids in a multirange. (PL/pgSQL, so that the planner keeps to the estimate of rows: views
-- that use it would otherwise seem so expensive that they are compiled.)
create or replace function :"schema"._ids(items int8multirange) returns setof bigint
language plpgsql immutable rows 10 :pinned as $$
begin
    return query select generate_series(lower(r), upper(r) - 1) from unnest(items) r;
end $$;
