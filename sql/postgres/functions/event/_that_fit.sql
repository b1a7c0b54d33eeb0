-- A page of events is bounded in bytes, since its reader holds all of it in memory. How many of the events with these
-- sizes go into one page; the first one always does.
create or replace function :"schema"._that_fit(sizes bigint[]) returns int
language plpgsql immutable :pinned as $$
begin
    if (select coalesce(sum(s), 0) <= :event_page_bytes from unnest(sizes) s) then
        return cardinality(sizes);
    end if;
    return (
        select count(*)
        from (select u.n, sum(u.size) over (order by u.n rows unbounded preceding) as bytes
              from unnest(sizes) with ordinality u(size, n)) z
        where z.n = 1 or z.bytes <= :event_page_bytes);
end $$;
