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
begin
    perform :"schema"._fault('', case
        when name is null or char_length(name) not between 1 and :subscription_name_max
            then array['name', 'must have 1 to :subscription_name_max characters']
        when name ~ '[\x01-\x1f\x7f]' then array['name', 'has a control character: remove it']
        when name like '%/%' then array['name', 'has a /, which is reserved: use another character']
        when name in ('outbox', 'inbox') then array['name', 'is that of a main reader: give another'] end);
    perform :"schema"._check_patterns(patterns);
    if start_at is null or start_at not in ('end', 'beginning') then
        begin
            start_time := start_at::timestamptz;
        exception when data_exception then
            start_time := null;
        end;
        if (start_time between '1970-01-01Z' and '9999-12-31Z') is not true then
            perform :"schema"._invalid('start_at', 'must be end, beginning, or a time');
        end if;
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004', message = 'subscription_add works under READ COMMITTED only';
    end if;
    return :"schema"._add_reader(name, log, patterns, coalesce("only", false), start_at, start_time,
                                 :"schema"._lag_ms(max_lag, max_lag_count), nullif(max_lag_count, 0));
end $$;
