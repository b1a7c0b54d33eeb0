-- Is this name free for a subscription or a policy? It stays so until the transaction ends (_add_reader). The subscriptions of a policy
-- have its name before their first /. BX003: it is taken.
create or replace function :"schema"._claim_name(p_name text) returns void
language plpgsql volatile :pinned set lock_timeout = '10s' as $$
declare
    is_policy boolean;
begin
    lock table :"schema".reader in exclusive mode;
    select r.destinations is not null into is_policy from :"schema".reader r
    where r.name = p_name or r.destinations is not null and starts_with(r.name, p_name || '/') limit 1;
    if found then
        raise exception using errcode = 'BX003',
            message = format('there is a %s "%s" already: choose another name, or remove that one',
                             case when is_policy then 'policy' else 'subscription' end, p_name);
    end if;
end $$;
