-- A new epoch (see _epoch), and the number that it has in the count of epochs if no other session draws one at the same
-- time. The clock is read before the epoch is counted. So while the count stays at that number, no session has drawn a
-- later epoch.
create or replace function :"schema"._draw_epoch(last bigint, out epoch bigint, out counted bigint)
language plpgsql volatile as $$
declare
    ts timestamptz;
begin
    counted := coalesce(pg_sequence_last_value(':"schema".epoch_count'), 0) + 1;
    ts := clock_timestamp();
    epoch := :"schema"._epoch(ts, nextval(':"schema".epoch_count'), last);
end $$;
