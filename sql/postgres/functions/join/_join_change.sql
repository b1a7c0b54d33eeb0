-- A join as it is after a change, and the change itself, for the library.
create or replace function :"schema"._join_change(p_join uuid, p_counted boolean, was_pending boolean)
returns table (counted boolean, ended boolean, expected_steps int, completed_steps int, failed_steps int,
               status text, reason text)
language plpgsql volatile :hot as $$
begin
    return query
        select p_counted, was_pending and j.status <> 'pending', j.expected_steps, j.completed_steps,
               j.failed_steps, j.status, j.reason
        from :"schema".outbox_join j where j.join_id = p_join;
end $$;
