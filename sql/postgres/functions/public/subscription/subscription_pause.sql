-- Claims of a subscription bring nothing from now on. What is leased is settled and renewed as ever. To pause twice is fine.
create or replace function :"schema".subscription_pause(name text) returns void
language plpgsql volatile security definer :pinned as $$
declare
    r constant :"schema".reader := :"schema"._hold_reader(name);
begin
    update :"schema".reader x set paused_at = clock_timestamp() where x.number = r.number and x.paused_at is null;
end $$;
