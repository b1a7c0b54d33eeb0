-- Makes dead letters ready again; returns how many.
create or replace function :"schema".dead_replay(work_ids bigint[], note text default null) returns bigint
language sql volatile security definer :pinned as $$
    select :"schema"._dead_replay(0::smallint, work_ids, note)
$$;
