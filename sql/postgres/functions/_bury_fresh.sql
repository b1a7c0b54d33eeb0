-- Buries messages of one lane that no claimer has yet, and takes them out of it. If a claimer was faster, or somebody has
-- buried one before (it may have been replayed meanwhile), the whole transaction fails and is to be repeated.
create or replace function :"schema"._bury_fresh(
    p_box smallint, p_lane smallint, ids bigint[], p_reason smallint, p_outcome text, note text,
    new_expired_from timestamptz, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    f :"schema".frontier;
    to_be_parked bigint[];   -- of these messages
begin
    -- Their rows come first, as in _expire_fresh: two who bury the same message meet there, and not in a deadlock.
    if exists (select from unnest(ids) i where i <> all (array(
                   select m.work_id from :"schema".message m where m.work_id = any (ids) and m.lane = p_lane
                   for update skip locked))) then
        raise exception using errcode = '55P03', message = 'somebody is at work on a message just now; try again';
    end if;
    if p_lane = 0 then
        perform :"schema"._hold_fresh(p_box, ids);
    end if;
    insert into :"schema".attempt (work_id, at, retry_count, outcome, error)
    select i, ts, 0, p_outcome, note from unnest(ids) i;
    perform :"schema"._bury(p_box, ids, p_reason, array_fill(note, array[cardinality(ids)]), ts);
    update :"schema".message m set lane = 2 where m.work_id = any (ids);
    -- Claimers would park messages of streams although we hold them: they must not come past them before we commit.
    to_be_parked := case p_lane when 1 then ids else '{}' end;
    if to_be_parked = '{}' and new_expired_from is null then
        return;
    end if;
    if not :"schema"._turn(p_box) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;
    f := :"schema"._frontier(p_box, p_lane);
    if :"schema"._is_any_behind(f, to_be_parked) then
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
