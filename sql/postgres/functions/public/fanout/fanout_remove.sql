-- Removes a policy with all its subscriptions; see subscription_remove. Copies stay. BX003: it has leased messages; with force their
-- leases end, too.
create or replace function :"schema".fanout_remove(name text, force boolean default false) returns void
language plpgsql volatile security definer :pinned as $$
declare
    r :"schema".reader;
begin
    lock table :"schema".reader in exclusive mode;
    for r in select p.* from :"schema"._hold_policy(fanout_remove.name) p order by p.number loop
        perform :"schema"._remove_reader(r, force);
    end loop;
end $$;
