-- How many bytes a message counts in a claim. octet_length of a text reads only its length, wherever the text is
-- stored. The planner puts this expression into the statement, so a claim pays no call, and nothing for a message
-- without headers and metadata.
create or replace function :"schema"._message_bytes(payload text, headers jsonb, metadata jsonb) returns int language sql immutable as $$
    select octet_length(payload) + coalesce(octet_length(headers::text), 0) + coalesce(octet_length(metadata::text), 0)
$$;
