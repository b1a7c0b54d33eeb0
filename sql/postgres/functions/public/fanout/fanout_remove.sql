-- Removes a policy with all its subscriptions; see subscription_remove. Copies stay. BX003: it has leased messages; with force their
-- leases end, too.
create or replace function :"schema".fanout_remove(name text, force boolean default false) returns void
language plpgsql volatile security definer :pinned set lock_timeout = '10s' as $$
declare
    r :"schema".reader;
    taken_from smallint;
begin
    lock table :"schema".reader in exclusive mode;
    for r in select p.* from :"schema"._hold_policy(fanout_remove.name) p order by p.number loop
        perform :"schema"._remove_reader(r, force);
        taken_from := case when r."only" then r.box end;
    end loop;
    if taken_from is not null then   -- last: it keeps claims of the main reader out
        perform :"schema"._set_rule(taken_from);
    end if;
end $$;
