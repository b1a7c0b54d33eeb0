-- The current snapshot with this transaction counted as running. PostgreSQL leaves it out. Then a transaction that
-- writes, claims, enqueues and commits would put messages into the log under an id that the frontier takes for
-- finished, and no claim would ever see them.
create or replace function :"schema"._snapshot() returns pg_snapshot
language plpgsql volatile :pinned as $$
declare
    now_visible pg_snapshot := pg_current_snapshot();
    own xid8 := pg_current_xact_id_if_assigned();
    running text;
begin
    if own is null or own >= pg_snapshot_xmax(now_visible) then
        return now_visible;
    end if;
    select string_agg(x::text, ',' order by x) into running
    from (select pg_snapshot_xip(now_visible) union select own) as r(x);
    return format('%s:%s:%s', least(pg_snapshot_xmin(now_visible), own), pg_snapshot_xmax(now_visible),
                  running)::pg_snapshot;
end $$;
