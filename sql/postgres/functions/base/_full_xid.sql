-- The number of a transaction with its epoch, from the part that a row holds: of all numbers that fit, the one closest
-- to now.
create or replace function :"schema"._full_xid(x xid) returns xid8
language plpgsql volatile as $$
declare
    near constant bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    half constant bigint := 2147483648;
begin
    return greatest(near - half + ((x::text::bigint - near + half) & 4294967295), 0)::text::xid8;
end $$;
