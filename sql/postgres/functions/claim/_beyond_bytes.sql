-- The items that a claim has to give back so that the rest is at most max_bytes (_message_bytes); null: all fit. A
-- claimer that cannot receive its claim has leased messages for nothing, and each of them is charged an attempt. The
-- claim keeps the oldest messages that fit together, and at least one, so a larger message goes alone. A stream stays
-- in order, since its later messages go back.
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
