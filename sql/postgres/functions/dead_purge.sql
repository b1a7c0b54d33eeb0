-- Removes dead letters for good; returns how many.
create or replace function :"schema".dead_purge(work_ids bigint[]) returns bigint
language plpgsql volatile security definer :pinned as $$
begin
    return :"schema"._dead_act(0::smallint, null, false, null, null, work_ids, null,
                               coalesce(cardinality(work_ids), 0), false, null);
end $$;
