-- max_lag in milliseconds, checked; null: off.
create or replace function :"schema"._lag_ms(max_lag interval, max_lag_count bigint) returns bigint
language plpgsql immutable :pinned as $$
begin
    perform :"schema"._fault('', case
        when max_lag <> interval '0' and max_lag not between interval '1 second' and interval ':delay_days_max days'
            then array['max_lag', 'is out of range: give 1 second to :delay_days_max days, or 0 for none']
        when max_lag_count < 0 then array['max_lag_count', 'is out of range: give 1 or more, or 0 for none'] end);
    return nullif((extract(epoch from max_lag) * 1000)::bigint, 0);
end $$;
