-- The partition of a stream: the first 8 bytes of its key's SHA-256, an unsigned number, modulo their count (at most a
-- million, so that the products of the halves fit).
create or replace function :"schema"._partition(key text, count int) returns int
language plpgsql immutable as $$
declare
    bits bigint := ('x' || encode(substring(sha256(convert_to(key, 'UTF8')) for 8), 'hex'))::bit(64)::bigint;
begin
    return (((bits >> 32) & 4294967295) % count * (4294967296 % count) + (bits & 4294967295)) % count;
end $$;
