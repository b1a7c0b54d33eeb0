-- How many bytes an event counts in a page. Both lengths are known without reading the values, wherever they are
-- stored. The planner puts this expression into the statement.
create or replace function :"schema"._event_bytes(payload text, headers jsonb) returns bigint language sql immutable as $$
    select (octet_length(payload) + coalesce(pg_column_size(headers), 0))::bigint
$$;
