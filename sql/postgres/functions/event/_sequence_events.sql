-- Gives positions to events that have none, in the order of their numbers: at most p_most, and only those of
-- transactions that have ended. An event that commits late gets a later position, so a reader that has seen a position
-- can see everything below it. This does not wait for open transactions. Within a stream the order is that of the
-- versions: a window that holds an event holds all earlier ones of its stream, or they had positions before.
--
-- Readers call this before they read (p_wait), and upkeep calls it too. One at a time, under a lock of Boxcar's own
-- that is held until the end of the transaction. A reader that cannot get the lock in time reads the events that have
-- positions. So does one that may not write or keeps to an old snapshot.
create or replace function :"schema"._sequence_events(p_most int, p_wait boolean) returns void
language plpgsql volatile security definer :hot as $$
declare
    f :"schema".event_frontier;
    ids bigint[];
    low bigint;
    own bigint;
    written_by bigint;
begin
    if p_most is null or p_most < 1 then
        perform :"schema"._invalid('most', 'is out of range: give 1 or more');
    end if;
    if current_setting('transaction_read_only') = 'on'
       or current_setting('transaction_isolation') <> 'read committed' then
        return;
    end if;
    if not p_wait and not :"schema"._is_own() then
        return;
    end if;
    perform :"schema"._check_identity();
    -- A look without the lock: most calls find nothing to do.
    f := :"schema"._event_frontier();
    if not f.is_open and f.window_end - f.base_low < 1000
       and not exists (select from :"schema"._event_window(f, 1)) then
        return;
    end if;
    if not :"schema"._event_turn(p_wait) then
        return;
    end if;
    perform :"schema"._check_identity();
    f := :"schema"._event_frontier();
    ids := array(select n from :"schema"._event_window(f, p_most) n);
    -- A subtransaction gets a number of its own here, after the highest event number was read: that is the pair for the
    -- next base, even if this transaction got its number long ago.
    low := coalesce(pg_sequence_last_value(':"schema".event_row_event_no_seq'), 0);
    begin
        with written as (
            insert into :"schema".event_run as r (first_position, first_id, last_id)
            select f.next_position + min(i.n) - 1, min(i.id), max(i.id)
            from unnest(ids) with ordinality i(id, n) group by i.id - i.n
            returning r.xmin::text::bigint as xid)
        select min(w.xid) into written_by from written w;
    exception when unique_violation then
        raise exception using errcode = '40001', message = 'another call has given out these positions';
    end;
    -- Without a number that belongs to `low` there is no next base, which costs only a longer look next time. A window
    -- that is used up to its very end has both, and has to be closed.
    if written_by is null and not f.is_open and pg_current_xact_id_if_assigned() is not null then
        return;
    end if;
    own := pg_current_xact_id()::text::bigint;
    if not f.is_open then
        f.target_low := low;
        f.target_xid := (own + (coalesce(written_by, own) - own % 4294967296 + 4294967296) % 4294967296)::text::xid8;
    end if;
    f.seq := f.seq + 1;
    f.is_open := cardinality(ids) >= p_most;
    f.done_id := coalesce(ids[cardinality(ids)], f.done_id);
    f.next_position := f.next_position + cardinality(ids);
    insert into :"schema".event_frontier select f.*;
    if f.seq % 64 = 0 then
        delete from :"schema".event_frontier x where x.seq between f.seq - 256 and f.seq - 64;
    end if;
end $$;
