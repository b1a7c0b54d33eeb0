-- The history of a message with a subscription, oldest first.
create or replace function :"schema"._delivery_attempts(p_reader smallint, p_work_id bigint) returns setof :"schema".attempt
language plpgsql stable security definer :pinned as $$
declare
    sees boolean := :"schema"._sees_owners();
begin
    perform :"schema"._log_box(p_reader);   -- there is such a reader
    return query
        select a.work_id, a.at, a.retry_count, a.outcome, case when sees then a.owner else :"schema"._veil(a.owner) end,
               a.epoch, a.error, a.reader
        from :"schema".attempt a
        where a.work_id = p_work_id and a.reader = case when p_reader > 1 then p_reader else 0 end
        order by a.at, a.retry_count;
end $$;
