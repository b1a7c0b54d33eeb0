-- Whether an id was derived from a text: a UUID of version 8 (see _derive_id).
create or replace function :"schema"._is_derived(id uuid) returns boolean
language sql immutable as $$ select substr(id::text, 15, 1) = '8' $$;
