-- The id that a text stands for: SHA-256 cut to a UUID of version 8. uuid_derive() in C computes
-- the same.
create or replace function :"schema"._derive_id(namespace text, name text) returns uuid
language plpgsql immutable :pinned as $$
declare
    hash bytea := substring(sha256(convert_to(namespace || name, 'UTF8')) for 16);
begin
    hash := set_byte(hash, 6, (get_byte(hash, 6) & 15) | 128);
    hash := set_byte(hash, 8, (get_byte(hash, 8) & 63) | 128);
    return encode(hash, 'hex')::uuid;
end $$;
