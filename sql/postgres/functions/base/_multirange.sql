-- Work ids as a multirange: neighbours become one range, so a whole batch is a few bytes. Most batches are one run of
-- ids, which is quicker to see than to add up. Numbers that cannot be work ids are left out.
create or replace function :"schema"._multirange(ids bigint[]) returns int8multirange
language plpgsql immutable :pinned as $$
declare
    n int := cardinality(ids);
    most constant bigint := 9223372036854775806;
begin
    if n = 1 and ids[1] between 1 and most then
        return int8multirange(int8range(ids[1], ids[1] + 1));
    end if;
    if ids[1] > 0 and ids[n] between ids[1] and most and ids[n] - ids[1] + 1 = n
       and ids = array(select generate_series(ids[1], ids[n])) then
        return int8multirange(int8range(ids[1], ids[n] + 1));
    end if;
    return (select coalesce(range_agg(int8range(id, id + 1)), '{}') from unnest(ids) id
            where id between 1 and most);
end $$;
