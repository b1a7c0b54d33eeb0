-- Makes dead letters ready again; returns how many.
create or replace function :"schema".dead_replay(work_ids bigint[], note text default null) returns bigint
language plpgsql volatile security definer :pinned as $$
begin
    return :"schema"._dead_act(0::smallint, null, false, null, null, work_ids, null,
                               coalesce(cardinality(work_ids), 0), true, note);
end $$;
