-- The history of a message, oldest first.
create or replace function :"schema"._attempts(p_work_id bigint) returns setof :"schema".attempt
language plpgsql stable security definer :pinned as $$
begin
    return query select * from :"schema".attempt a where a.work_id = p_work_id order by a.at, a.retry_count;
end $$;
