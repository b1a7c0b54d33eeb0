-- A new epoch (see _epoch), and the number in the count of epochs that it has if nobody else draws one at the same time. The clock is read
-- before the epoch is counted. So as long as the count stays at that number, nobody has drawn a later one.
create or replace function :"schema"._draw_epoch(last bigint, out epoch bigint, out counted bigint)
language plpgsql volatile as $$
declare
    ts timestamptz;
begin
    counted := coalesce(pg_sequence_last_value(':"schema".epoch_count'), 0) + 1;
    ts := clock_timestamp();
    epoch := :"schema"._epoch(ts, nextval(':"schema".epoch_count'), last);
end $$;
