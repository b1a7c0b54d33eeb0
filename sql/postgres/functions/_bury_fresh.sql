-- Buries messages of one lane that no claimer has met yet, and tells the claimers to pass over them.
-- Burying comes first and the turn last, as everywhere; if a claimer was faster after all, or somebody has buried
-- one before (it may have been replayed meanwhile), the whole transaction fails and is to be repeated.
create or replace function :"schema"._bury_fresh(
    p_box smallint, p_lane smallint, ids bigint[], p_reason smallint, p_outcome text, note text,
    new_expired_from timestamptz, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    f :"schema".frontier;
begin
    insert into :"schema".attempt (work_id, at, retry_count, outcome, error)
    select i, ts, 0, p_outcome, note from unnest(ids) i;
    perform :"schema"._bury(p_box, ids, p_reason, array_fill(note, array[cardinality(ids)]), ts);
    if not :"schema"._turn(p_box) then
        raise exception using errcode = '55P03', message = 'claimers are busy; try again';
    end if;
    f := :"schema"._frontier(p_box, p_lane);
    if exists (select from :"schema".message m
               where m.work_id = any (ids)
                 and (m.era <> f.era or :"schema"._is_behind(f, m.xid, m.work_id))) then
        raise exception using errcode = '40001', message = 'a message was claimed meanwhile; try again';
    end if;
    if p_lane = 1 and p_reason <> 5 then
        perform :"schema"._halt_streams(p_box, ids, true, ts);
    end if;
    f.seq := f.seq + 1;
    f.expired_from := greatest(f.expired_from, new_expired_from);
    f.skip := '{(,)}';
    perform :"schema"._add_frontier(f);
    insert into :"schema".frontier_skip select unnest(ids);
exception when unique_violation then
    raise exception using errcode = '40001', message = 'a message was buried meanwhile; try again';
end $$;
