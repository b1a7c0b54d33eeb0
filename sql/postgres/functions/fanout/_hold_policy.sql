-- Locks the subscriptions of a policy for a change, and returns their numbers and names. It does not wait for long for another change
-- that is not committed. BX002: there is no such policy.
create or replace function :"schema"._hold_policy(p_name text) returns setof :"schema".reader
language plpgsql volatile :pinned set lock_timeout = '10s' as $$
begin
    if p_name is null then
        perform :"schema"._invalid('name', 'is null: give the name of a policy');
    end if;
    return query
        select r.* from :"schema".reader r where r.destinations is not null and starts_with(r.name, p_name || '/') and p_name not like '%/%'
        order by r.number for update;
    if not found then
        raise exception using errcode = 'BX002', column = 'fanout',
            message = format('policy "%s" does not exist: boxcar fanout ls lists the policies', left(p_name, 100));
    end if;
end $$;
