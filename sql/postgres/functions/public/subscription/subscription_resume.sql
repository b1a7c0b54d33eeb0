-- Ends a pause of a subscription. It goes on where it was.
create or replace function :"schema".subscription_resume(name text) returns void
language plpgsql volatile security definer :pinned as $$
declare
    r constant :"schema".reader := :"schema"._hold_reader(name);
begin
    update :"schema".reader x set paused_at = null where x.number = r.number;
end $$;
