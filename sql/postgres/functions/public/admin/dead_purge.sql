-- Removes dead letters for good; returns how many.
create or replace function :"schema".dead_purge(work_ids bigint[], subscription text default null) returns bigint
language sql volatile security definer :pinned as $$
    select :"schema"._dead_purge(case when subscription is null then 0::smallint else :"schema"._reader(subscription, null) end, work_ids)
$$;
