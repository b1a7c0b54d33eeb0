-- The claim of messages from the pool and the log inside a transaction that may stay open for long (BX-030). It holds
-- nothing that others need: no turn, no row of the pool, only the rows of its messages. The messages stay where they
-- are, in the pool or beyond the frontier, and leave that place when the transaction commits. If it rolls back or is
-- lost, nothing was done.
--
-- A claimer that claims alone sees the lock on a message and leaves the message (_leave_held). But it may have found
-- the message free just before it was locked. So this claim locks its messages, waits until the claimers that have the
-- turn or the rows of the pool have ended, and then looks again. A message that has left its place meanwhile belongs to
-- one of them. The claim then begins anew, so that no lock stays on that message.
--
-- The claim passes over messages that others hold, one by one. If there are many of them, the end of the transaction
-- sets them aside: there may be no claimer that claims in another way.
create or replace function :"schema"._claim_inside(
    f :"schema".frontier, wanted int, exact text[], prefixes text[], topics text[], p_waits text)
returns int8multirange language plpgsql volatile as $$
declare
    pooled bigint[];   -- what was found in the pool ...
    places bigint[];   -- ... in these rows
    ahead bigint[];    -- what was found in the log ...
    met bigint := 0;   -- ... after this many others
    crowded record;    -- rows of the pool that were passed because others hold all their messages: the first ones
    in_time boolean;
    skips boolean;     -- another claim inside a transaction may have taken what was found in the log
begin
    for i in 1 .. 5 loop
        begin
            select coalesce(array_agg(l.work_id), '{}'), array_agg(distinct l.place) into pooled, places
            from :"schema"._lock_pooled(f, wanted, topics) l;
            ahead := '{}';
            if cardinality(pooled) < wanted then
                select b.locked, b.met into ahead, met from :"schema"._lock_beyond(
                    f, wanted - cardinality(pooled), exact, prefixes, p_waits) b;
            end if;
            select array_agg(x.place order by x.place) filter (where x.so_far <= 2000) as places, sum(x.size) as total
            into crowded from (
                select p.place, p.size, sum(p.size) over (order by p.place) as so_far from :"schema".pool p
                where p.box = f.box and p.place >= f.pool_from and p.holder is null and p.place <> all (coalesce(places, '{}'))
                  and p.place < coalesce((select max(z) from unnest(places) z), 9223372036854775807)
                  and (topics is null or p.topic = any (topics))
                order by p.box, p.place limit 100) x;
            if crowded.total > 100 and crowded.places is not null then
                perform :"schema"._note_end(f.box, true, -1 || crowded.places);
            end if;
            if pooled = '{}' and ahead = '{}' then
                if met > 0 or exists (
                       select from :"schema".pool p where p.box = f.box and p.holder is not null and p.to_park) then
                    -- the end of the transaction sorts them (_at_end)
                    perform :"schema"._note_end(f.box, true, '{}');
                end if;
                return '{}'::int8multirange;
            end if;
            perform :"schema"._note_holder(f.box, pooled || ahead);
            in_time := :"schema"._let_others_end(f.box, places, ahead <> '{}');
            skips := pg_sequence_last_value(':"schema".skip_flag') is not null;
            f := :"schema"._frontier(f.box, 0::smallint);
            if not in_time or not :"schema"._are_in_pool(f.box, pooled, places) or exists (
                   select from :"schema".message m
                   where m.work_id = any (ahead) and (m.era <> f.era or :"schema"._is_behind(f, m.xid, m.work_id)
                                                      or skips and :"schema"._is_left_out(f.box, m.work_id))) then
                raise exception using errcode = 'BX099';
            end if;
            if ahead <> '{}' then
                perform :"schema"._leave_out(f.box, ahead);
            end if;
            if pooled <> '{}' then
                perform :"schema"._note_end(f.box, true, places, :"schema"._multirange(pooled));
            end if;
            if ahead <> '{}' then
                perform :"schema"._note_end(f.box, true, '{}');
            end if;
            return :"schema"._multirange(pooled || ahead);
        exception when sqlstate 'BX099' then
            exit when not in_time;
        end;
    end loop;
    return '{}'::int8multirange;
end $$;
