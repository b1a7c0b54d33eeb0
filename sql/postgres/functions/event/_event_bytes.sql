-- What an event counts in the bytes of a page. Both lengths are known without reading the values, wherever they are stored. The
-- planner puts these words into the statement.
create or replace function :"schema"._event_bytes(payload text, headers jsonb) returns bigint language sql immutable as $$
    select (octet_length(payload) + coalesce(pg_column_size(headers), 0))::bigint
$$;
