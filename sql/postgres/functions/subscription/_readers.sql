-- The numbers of all readers, for upkeep.
create or replace function :"schema"._readers() returns setof smallint
language sql stable security definer :pinned as $$
    select r.number from :"schema".reader r where r.removed_at is null order by r.number
$$;
