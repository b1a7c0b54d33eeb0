-- The subscriptions of a policy are removed together, and have one set of patterns. BX003: this is one.
create or replace function :"schema"._refuse_of_policy(r :"schema".reader) returns void
language plpgsql immutable :pinned as $$
begin
    if r.destinations is not null then
        raise exception using errcode = 'BX003',
            message = format(
                'subscription "%s" belongs to the policy "%s" and goes and changes with it: boxcar fanout rm %2$s removes it whole',
                r.name, split_part(r.name, '/', 1));
    end if;
end $$;
