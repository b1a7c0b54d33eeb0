-- What a message counts in the bytes of a claim. octet_length of a text reads its length only, wherever it is stored. The planner puts
-- these words into the statement, so a claim pays no call, and nothing for a message without headers and metadata.
create or replace function :"schema"._message_bytes(payload text, headers jsonb, metadata jsonb) returns int language sql immutable as $$
    select octet_length(payload) + coalesce(octet_length(headers::text), 0) + coalesce(octet_length(metadata::text), 0)
$$;
