-- Might any of these messages be a pending member of a join? One index probe per run of ids.
create or replace function :"schema"._is_step(items int8multirange) returns boolean
language plpgsql stable :hot as $$
begin
    return exists (select from unnest(items) r(run) cross join lateral (
                       select from :"schema".join_member m
                       where m.work_id >= lower(r.run) and m.work_id < upper(r.run) and m.status = 0 limit 1) m);
end $$;
