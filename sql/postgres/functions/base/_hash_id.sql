-- The same result as _derive_id, for Boxcar's functions that are called often. It has no settings of its own, which
-- would cost more than the rest, so everything is named with its schema.
create or replace function :"schema"._hash_id(namespace text, name text) returns uuid
language plpgsql immutable as $$
declare
    hash pg_catalog.bytea := pg_catalog.substr(pg_catalog.sha256(pg_catalog.convert_to(
        namespace operator(pg_catalog.||) name, 'UTF8')), 1, 16);
begin
    hash := pg_catalog.set_byte(hash, 6, pg_catalog.get_byte(hash, 6) operator(pg_catalog.&) 15 operator(pg_catalog.|) 128);
    hash := pg_catalog.set_byte(hash, 8, pg_catalog.get_byte(hash, 8) operator(pg_catalog.&) 63 operator(pg_catalog.|) 128);
    return pg_catalog.encode(hash, 'hex')::pg_catalog.uuid;
end $$;
