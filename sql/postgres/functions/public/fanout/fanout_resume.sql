-- Ends a pause of a policy. All its destinations go on where they were.
create or replace function :"schema".fanout_resume(name text) returns void
language plpgsql volatile security definer :pinned set lock_timeout = '10s' as $$
begin
    update :"schema".reader r set paused_at = null from :"schema"._hold_policy(fanout_resume.name) p where r.number = p.number;
end $$;
