-- Joins have ended, which the caller has locked: this evaluates their waits in the same transaction, where that needs
-- no waiting for locks. It leaves some waits due for the next evaluation: those that another transaction holds, those
-- that are steps of joins which are not free, those whose payload makes no sense, and those that go too deep or are too
-- much for one transaction.
--
-- The caller has ended the joins by something else: an ack, a burial, a claim. A faulty wait must not undo that:
-- otherwise the same message would make every claim fail that meets it. The waits then stay due, for upkeep. Errors
-- that may be gone when the caller tries again go to the caller, and a cancel is never caught.
create or replace function :"schema"._follow_joins(p_joins uuid[], ts timestamptz) returns void
language plpgsql volatile as $$
#variable_conflict use_column
declare
    depth int;
    ids bigint[];
    free uuid[];
begin
    if not exists (select from :"schema".join_wait w where w.join_id = any (p_joins)) then
        return;   -- without the cost of a subtransaction
    end if;
    begin
        depth := greatest(nullif(current_setting('boxcar.wait_depth', true), '')::int, 0);
        if depth >= 10 or current_setting('transaction_isolation') <> 'read committed' then
            return;
        end if;
        ids := array(
            select i from unnest(:"schema"._first_bytes(array(
                select w.work_id from :"schema".join_wait w
                cross join lateral (
                    select from :"schema".parked p
                    where p.work_id = w.work_id and p.epoch is null and p.stream is null and p.box = 0 limit 1) p
                where w.join_id = any (p_joins)
                limit 1000), 16 << 20)) i
            cross join lateral (select m.payload from :"schema".message m where m.work_id = i limit 1) m
            cross join lateral :"schema"._read_wait(m.payload) r
            where r.fault is null and r.join_id = any (p_joins));
        if ids = '{}' then
            return;
        end if;
        if :"schema"._is_step(:"schema"._multirange(ids)) then
            free := array(
                select j.join_id from :"schema".join_row j
                where j.join_id = any (array(select s.join_id from :"schema"._steps(:"schema"._multirange(ids)) s))
                order by j.join_id for no key update skip locked);
            ids := array(
                select i from unnest(ids) i
                where not exists (select from :"schema"._steps(int8multirange(int8range(i, i + 1))) s
                                  where s.join_id <> all (free)));
        end if;
        perform set_config('boxcar.wait_depth', (depth + 1)::text, true);
        perform :"schema"._evaluate_waits(ids, ts);
        perform set_config('boxcar.wait_depth', depth::text, true);
    exception
        when serialization_failure or deadlock_detected then
            raise;
        when others then
            perform :"schema"._warn_of_trouble('what waits for a join was not evaluated when it ended, upkeep tries again',
                                               'join ' || array_to_string(p_joins[:10], ', '), sqlstate);
    end;
end $$;
