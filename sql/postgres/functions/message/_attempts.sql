-- The history of a message with its main reader, oldest first.
create or replace function :"schema"._attempts(p_work_id bigint) returns setof :"schema".attempt
language plpgsql stable security definer :pinned as $$
declare
    sees boolean := :"schema"._sees_owners();
begin
    return query
        select a.work_id, a.at, a.retry_count, a.outcome, case when sees then a.owner else :"schema"._veil(a.owner) end,
               a.epoch, a.error, a.reader
        from :"schema".attempt a where a.work_id = p_work_id and a.reader = 0 order by a.at, a.retry_count;
end $$;
