-- The number of a lease: the database's clock in microseconds, with the count of epochs in its last six bits, so that
-- two claims of one moment differ. When a crash loses a claim, its number is not given out again. last: when a claimer
-- last had the turn. If the clock is before that, it was set back: then the count goes on from there.
create or replace function :"schema"._epoch(ts timestamptz, number bigint, last bigint) returns bigint
language plpgsql immutable as $$
declare
    now_us constant bigint := (extract(epoch from ts) * 1000000)::bigint;
begin
    if now_us < last then
        return last + 1 + number % 65536;
    end if;
    return now_us - now_us % 64 + number % 64;
end $$;
