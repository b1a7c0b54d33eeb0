-- Makes dead letters ready again; returns how many.
create or replace function :"schema".dead_replay(work_ids bigint[], note text default null,
                                                     subscription text default null) returns bigint
language sql volatile security definer :pinned as $$
    select :"schema"._dead_replay(case when subscription is null then 0::smallint else :"schema"._reader(subscription, null) end,
                                  work_ids, note)
$$;
