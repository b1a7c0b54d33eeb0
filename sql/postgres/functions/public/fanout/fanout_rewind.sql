-- Forwards again what is kept from a place on, to all destinations of a policy; see subscription_rewind. A copy that its destination
-- still knows is not stored again. Returns how many are ahead.
create or replace function :"schema".fanout_rewind(name text, target text) returns bigint
language plpgsql volatile security definer :pinned as $$
declare
    route text;
    ahead bigint := 0;
begin
    for route in select p.name from :"schema"._hold_policy(fanout_rewind.name) p order by p.number loop
        ahead := ahead + :"schema".subscription_rewind(route, target);
    end loop;
    return ahead;
end $$;
