-- Makes a subscription: a named reader of a box, with topics, retries, order, halts and dead letters of its own (docs/subscriptions.md).
-- start_at: end, beginning (of what is kept), or a time. only: the main reader does not get these topics any more. max_lag,
-- max_lag_count: upkeep gives up its oldest unread messages beyond this (dead letters, expired). Returns its number. BX003: the
-- name is taken.
create or replace function :"schema".subscription_add(
    name text, patterns text[], box text default 'outbox', start_at text default 'end', "only" boolean default false,
    max_lag interval default null, max_lag_count bigint default null)
returns int language plpgsql volatile security definer :pinned as $$
declare
    start_time timestamptz;
    log constant smallint := :"schema"._box(box);
    n smallint;
begin
    perform :"schema"._check_subscription_name(name);
    perform :"schema"._check_patterns(patterns);
    start_time := :"schema"._start_time(start_at);
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004', message = 'subscription_add works under READ COMMITTED only';
    end if;
    perform :"schema"._claim_name(name);
    n := :"schema"._add_reader(name, log, patterns, coalesce("only", false), start_at, start_time,
                               :"schema"._lag_ms(max_lag, max_lag_count), nullif(max_lag_count, 0));
    if "only" then
        perform :"schema"._set_rule(log);
    end if;
    return n;
end $$;
