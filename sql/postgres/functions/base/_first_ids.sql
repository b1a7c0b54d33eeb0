-- The first n work ids of a multirange.
create or replace function :"schema"._first_ids(items int8multirange, n int) returns int8multirange
language plpgsql immutable as $$
begin
    -- Mostly they are neighbours.
    if items @> int8range(lower(items), lower(items) + n) then
        return int8multirange(int8range(lower(items), lower(items) + n));
    end if;
    return :"schema"._multirange(array(select i from :"schema"._ids(items) i limit n));
end $$;
