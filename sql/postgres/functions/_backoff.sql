-- How long a message waits after its retry_count-th bad attempt: min(base * factor^n, cap), less
-- jitter (BX-021). The exponent is bounded so that nothing overflows.
create or replace function :"schema"._backoff(retry_count int) returns interval
language plpgsql volatile :pinned as $$
declare
    base double precision := :"schema"._setting('backoff_base', 1000);
    factor double precision := :"schema"._setting('backoff_factor', 2);
    cap double precision := :"schema"._setting('backoff_cap', 60000);
    jitter double precision := :"schema"._setting('backoff_jitter', 0);
    delay double precision := least(cap, base * power(factor, least(retry_count, 60)));
begin
    return make_interval(secs => delay * (1 - jitter * random()) / 1000);
end $$;
