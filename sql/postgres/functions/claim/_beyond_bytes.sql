-- What one claim brings is bounded in bytes (_message_bytes): a claimer that cannot receive it has leased messages for nothing,
-- and each of them is charged an attempt. Returns those of the items that have to be given back: all but the oldest that fit
-- together, one at least, so that a larger one goes alone. A stream stays in order, since its later messages are those
-- that go back. null: all fit.
create or replace function :"schema"._beyond_bytes(items int8multirange, max_bytes bigint)
returns bigint[] language plpgsql stable :hot as $$
begin
    if (select sum(:"schema"._message_bytes(m.payload, m.headers, m.metadata)) <= max_bytes
        from unnest(items) r cross join lateral (
            select x.payload, x.headers, x.metadata from :"schema".message x where x.work_id >= lower(r) and x.work_id < upper(r)
            order by x.work_id offset 0) m) then
        return null;
    end if;
    return (select array_agg(z.work_id)
            from (select m.work_id, row_number() over w as n,
                         sum(:"schema"._message_bytes(m.payload, m.headers, m.metadata)) over w as bytes
                  from unnest(items) r cross join lateral (
                      select x.work_id, x.payload, x.headers, x.metadata from :"schema".message x
                      where x.work_id >= lower(r) and x.work_id < upper(r)
                      order by x.work_id offset 0) m
                  window w as (order by m.work_id rows unbounded preceding)) z
            where z.n > 1 and z.bytes > max_bytes);
end $$;
