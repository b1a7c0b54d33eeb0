-- How many attempts of a reader a message has spent since it was enqueued or last replayed; crashes: only those that ended by an
-- expired lease.
create or replace function :"schema"._spent(p_reader smallint, p_work_id bigint, crashes boolean) returns int
language plpgsql stable security definer :hot as $$
begin
    return (
        select count(*) from :"schema".attempt a
        where a.work_id = p_work_id and a.reader = case when p_reader > 1 then p_reader else 0 end
          and (a.outcome = 'lease_expired' or (a.outcome = 'abandoned' and not crashes))
          and a.at > coalesce((select max(r.at) from :"schema".attempt r
                               where r.work_id = p_work_id and r.reader = a.reader and r.outcome = 'replayed'), '-infinity'));
end $$;
