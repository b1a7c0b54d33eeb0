-- The rules for the name of a subscription, and for that of a policy.
create or replace function :"schema"._check_subscription_name(name text) returns void
language plpgsql immutable :pinned as $$
begin
    perform :"schema"._fault('', case
        when name is null or char_length(name) not between 1 and :subscription_name_max
            then array['name', 'must have 1 to :subscription_name_max characters']
        when name ~ '[\x01-\x1f\x7f]' then array['name', 'has a control character: remove it']
        when name like '%/%' then array['name', 'has a /, which is reserved: use another character']
        when name in ('outbox', 'inbox') then array['name', 'is that of a main reader: give another'] end);
end $$;
