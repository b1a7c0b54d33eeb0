-- Changes the patterns of a subscription, which counts for what it has not come past yet, and how far it may lag (0: no limit). What is
-- null stays.
create or replace function :"schema".subscription_change(
    name text, patterns text[] default null, max_lag interval default null, max_lag_count bigint default null)
returns void language plpgsql volatile security definer :pinned as $$
declare
    r :"schema".reader;
    lag_ms constant bigint := :"schema"._lag_ms(max_lag, max_lag_count);
begin
    if patterns is not null then
        perform :"schema"._check_patterns(patterns);
    end if;
    r := :"schema"._hold_reader(name);
    if patterns is not null then
        perform :"schema"._refuse_of_policy(r);
    end if;
    update :"schema".reader x
    set patterns = coalesce(subscription_change.patterns, x.patterns),
        max_lag_ms = case when max_lag is null then x.max_lag_ms else lag_ms end,
        max_lag_count = case when subscription_change.max_lag_count is null then x.max_lag_count
                             else nullif(subscription_change.max_lag_count, 0) end
    where x.number = r.number;
    if patterns is distinct from r.patterns and patterns is not null then
        perform :"schema"._set_rule(r.number);
        if r."only" then
            perform :"schema"._set_rule(r.box);
        end if;
    end if;
end $$;
