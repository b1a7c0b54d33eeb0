-- How long a message waits after its retry_count-th bad attempt: min(base * factor^n, cap), less
-- jitter (BX-021). Times in milliseconds. The exponent is bounded so that nothing overflows.
create or replace function :"schema"._backoff(
    retry_count int, base double precision, factor double precision, cap double precision,
    jitter double precision)
returns interval language sql volatile as $$
    select make_interval(secs => least(cap, base * power(factor, least(retry_count, 60)))
                                 * (1 - jitter * random()) / 1000)
$$;
