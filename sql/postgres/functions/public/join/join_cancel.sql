-- Ends a pending join; messages that wait for it take the failure path.
create or replace function :"schema".join_cancel(join_id uuid) returns void
language plpgsql volatile security definer :hot as $$
begin
    perform :"schema"._check_join(join_id, null, null);
    perform :"schema"._join_cancel(join_id);
end $$;
