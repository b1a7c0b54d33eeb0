-- The partition of a stream: the first 8 bytes of its key's SHA-256, an unsigned number, modulo their count.
create or replace function :"schema"._partition(key text, count int) returns int
language sql immutable as $$
    select ((b.bits::bigint::numeric + case when b.bits::bigint < 0 then 18446744073709551616 else 0 end) % count)::int
    from (select ('x' || encode(substring(sha256(convert_to(key, 'UTF8')) from 1 for 8), 'hex'))::bit(64) as bits) b
$$;
