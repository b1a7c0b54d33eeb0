-- Work ids as a multirange: neighbours melt into one range, so a whole batch is a few bytes.
create or replace function :"schema"._multirange(ids bigint[]) returns int8multirange
language plpgsql immutable :pinned as $$
begin
    if cardinality(ids) = 1 then
        return int8multirange(int8range(ids[1], ids[1] + 1));
    end if;
    return (select coalesce(range_agg(int8range(id, id + 1)), '{}') from unnest(ids) id);
end $$;
