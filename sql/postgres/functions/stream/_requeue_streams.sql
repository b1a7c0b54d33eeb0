-- Messages of these streams have come into the parking lot, or may have been forgotten there: the next claimer looks
-- for the head of each. A stream that one of `resumed` had halted goes on. A missing row is made under the turn, where
-- otherwise only claimers make rows. A claimer may have made the row during the wait, without seeing the parked
-- messages. Such a stream is woken under the turn, or noted down if another transaction has locked it. Locking its row
-- earlier would break the order of locks.
create or replace function :"schema"._requeue_streams(
    p_box smallint, keys text[], resumed bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    f :"schema".frontier;
    known text[] := array(
        select s.key from :"schema".stream s where s.box = p_box and s.key = any (keys) order by s.key for update);
begin
    update :"schema".stream s set halted_at = null, halted_by = null
    where s.box = p_box and s.key = any (known) and s.halted_by = any (resumed);
    perform :"schema"._advance_streams(p_box, known, ts);
    if not :"schema"._turn(p_box, true) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;
    f := :"schema"._frontier(p_box, 1::smallint);
    insert into :"schema".stream_note (box, key)
    select p_box, k from unnest(:"schema"._wake_streams(
        p_box, array(select k from unnest(keys) k where k <> all (known)), ts)) k;
    insert into :"schema".stream (box, key, available_at, partition, position, taken_from)
    select p_box, k, ts, :"schema"._partition(k, :"schema"._setting('partition_count', 10000)::int), p, p
    from (select distinct k from unnest(keys) k) n(k) cross join lateral :"schema"._new_position(f, n.k) p
    where not exists (select from :"schema".stream s where s.box = p_box and s.key = n.k);
    perform :"schema"._end_quiet(p_box);
end $$;
