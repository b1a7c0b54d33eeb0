-- The id that a text stands for: SHA-256 cut to a UUID of version 8. uuid_derive() in C computes the same. It runs with
-- the rights of the owner, because views call it with the rights of the reader (_veil).
create or replace function :"schema"._derive_id(namespace text, name text) returns uuid
language plpgsql immutable security definer :pinned as $$
begin
    return :"schema"._hash_id(namespace, name);
end $$;
