-- Buries messages of one lane that no claimer of a reader has yet, and takes them out of its log. The whole transaction fails, to be
-- repeated, if a claimer was faster, or another transaction has buried one before (it may have been replayed
-- meanwhile).
create or replace function :"schema"._bury_fresh(
    p_box smallint, p_lane smallint, ids bigint[], p_reason smallint, p_outcome text, note text,
    new_expired_from timestamptz, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    f :"schema".frontier;
    wanted constant int8multirange := :"schema"._multirange(ids);
    places bigint[];
    held text[];             -- streams that this transaction has locked
    to_be_parked bigint[];   -- of these messages
begin
    if p_lane = 1 then   -- in the order of claims inside a transaction (_heads_inside)
        held := :"schema"._hold_streams(p_box, wanted);
    end if;
    -- Their rows come next, as in _expire_fresh: two transactions that bury the same message meet there, and not in a
    -- deadlock.
    if exists (select from unnest(ids) i where i <> all (array(
                   select m.work_id from :"schema".message m where m.work_id = any (ids) and m.lane = p_lane
                   for update skip locked))) then
        raise exception using errcode = '55P03', message = 'another call is at work on a message just now; try again';
    end if;
    perform :"schema"._note_holder(p_box, ids);
    if p_lane = 0 then
        -- Claimers may have found one free before the lock (as in _claim_inside). Otherwise this transaction has them, in the
        -- pool or beyond the frontier.
        places := array(select p.place from :"schema".pool p where p.box = p_box and p.items && wanted);
        if not :"schema"._let_others_end(p_box, places, true) then
            raise exception using errcode = '55P03', message = 'claimers are busy; try again';
        end if;
        f := :"schema"._frontier(p_box, 0::smallint);
        if not :"schema"._are_in_pool(p_box, array(
                   select m.work_id from :"schema".message m
                   where m.work_id = any (ids) and (m.era <> f.era or :"schema"._is_behind(f, m.xid, m.work_id))), places) then
            raise exception using errcode = '40001', message = 'a message was claimed meanwhile; try again';
        end if;
    elsif exists (select from :"schema".message m where m.work_id = any (ids)
                    and :"schema"._is_met(:"schema"._frontier(p_box, p_lane), m.xid, m.work_id, m.stream)) then
        -- Not later: a transaction that replays it would wait for its stream, and this one for that transaction.
        raise exception using errcode = '40001', message = 'a message was claimed meanwhile; try again';
    end if;
    -- A claim inside a transaction may have taken it meanwhile.
    if pg_sequence_last_value(':"schema".skip_flag') is not null
       and exists (select from unnest(ids) i where :"schema"._is_left_out(p_box, i)) then
        raise exception using errcode = '40001', message = 'a message was claimed meanwhile; try again';
    end if;
    insert into :"schema".attempt (work_id, at, retry_count, outcome, error, reader)
    select i, ts, 0, p_outcome, note, case when p_box > 1 then p_box else 0 end from unnest(ids) i;
    perform :"schema"._bury(p_box, ids, p_reason, array_fill(note, array[cardinality(ids)]), ts);
    perform :"schema"._leave_out(p_box, ids);
    -- Claimers would park a message of a stream that comes late, or whose stream has no row, although this transaction
    -- holds it: they must not come past it before the commit. If this transaction has locked a stream's row, they take
    -- nothing behind its position.
    to_be_parked := case p_lane when 0 then '{}' else array(
        select m.work_id from :"schema".message m
        where m.work_id = any (ids) and not exists (
            select from :"schema".stream s
            where s.box = p_box and s.key = m.stream and s.key = any (held) and s.position < m.work_id)) end;
    if to_be_parked = '{}' and new_expired_from is null then
        return;
    end if;
    if not :"schema"._turn(p_box, true) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;
    f := :"schema"._frontier(p_box, p_lane);
    if exists (select from :"schema".message m where m.work_id = any (to_be_parked)
                 and (m.era <> f.era or :"schema"._is_met(f, m.xid, m.work_id, m.stream))) then
        raise exception using errcode = '40001', message = 'a message was claimed meanwhile; try again';
    end if;
    if p_lane = 1 and p_reason <> 5 then
        perform :"schema"._halt_streams(p_box, ids, true, ts);
    end if;
    if new_expired_from is not null then
        f.seq := f.seq + 1;
        f.expired_from := greatest(f.expired_from, new_expired_from);
        perform :"schema"._add_frontier(f);
    end if;
exception when unique_violation then
    raise exception using errcode = '40001', message = 'a message was buried meanwhile; try again';
end $$;
