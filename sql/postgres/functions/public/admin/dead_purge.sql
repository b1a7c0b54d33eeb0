-- Removes dead letters for good; returns how many.
create or replace function :"schema".dead_purge(work_ids bigint[]) returns bigint
language sql volatile security definer :pinned as $$
    select :"schema"._dead_purge(0::smallint, work_ids)
$$;
