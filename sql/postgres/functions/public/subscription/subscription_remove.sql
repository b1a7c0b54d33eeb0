-- Removes a subscription. Its name is free at once; what it knew goes in small steps of upkeep. Messages stay for other readers. BX003:
-- it has leased messages; with force their leases end, too. One of a policy is removed with the policy only (fanout_remove).
create or replace function :"schema".subscription_remove(name text, force boolean default false) returns void
language plpgsql volatile security definer :pinned set lock_timeout = '10s' as $$
declare
    r :"schema".reader;
begin
    lock table :"schema".reader in exclusive mode;
    r := :"schema"._hold_reader(name);
    perform :"schema"._refuse_of_policy(r);
    perform :"schema"._remove_reader(r, force);
    if r."only" then
        perform :"schema"._set_rule(r.box);
    end if;
end $$;
