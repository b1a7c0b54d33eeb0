-- The first of these messages that together have this many bytes of payload, and one more. Sizes are known without
-- reading the payloads.
create or replace function :"schema"._first_bytes(ids bigint[], most bigint) returns bigint[]
language plpgsql stable as $$
begin
    return array(
        select x.id from (
            select i.id, i.n, sum(m.size) over (order by i.n) - m.size as before
            from unnest(ids) with ordinality i(id, n) cross join lateral (
                select octet_length(m.payload) as size from :"schema".message m where m.work_id = i.id limit 1) m) x
        where x.before < most order by x.n);
end $$;
