-- Cancels a message for one reader, if it is neither in progress nor ended there. False: it is, or the reader never wanted it (state
-- tells: null).
create or replace function :"schema"._cancel_delivery(p_box smallint, id bigint, out state text, out cancelled boolean)
language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    retries int;
    is_fresh boolean := false;
begin
    select i.status into state from :"schema"._item i where i.work_id = id and i.reader = p_box;
    cancelled := state is not distinct from 'ready';
    if not cancelled then
        return;
    end if;
    select p.retry_count into retries from :"schema".parked p
    where p.work_id = id and p.box = p_box and p.epoch is null for update;
    if found then
        ts := clock_timestamp();   -- not before the end of an attempt that this may have waited for
        insert into :"schema".attempt (work_id, at, retry_count, outcome, reader)
        values (id, ts, retries, 'cancelled', case when p_box > 1 then p_box else 0 end);
        perform :"schema"._bury(p_box, array[id], 5::smallint, null, ts);
        return;
    end if;
    if not exists (select from :"schema".parked p where p.work_id = id and p.box = p_box) then
        perform :"schema"._bury_fresh(p_box, m.lane, array[id], 5::smallint, 'cancelled', null, null, ts)
        from :"schema".message m where m.work_id = id and m.lane <> 2;
        is_fresh := found;
    end if;
    if not is_fresh then
        -- Claimed while this waited for its row. It may still be ahead of the frontier (cancelled before, then
        -- replayed), where _bury_fresh would not notice. Or it is a wait that was evaluated meanwhile: no frontier
        -- meets those.
        raise exception using errcode = '40001', message = 'a message was claimed meanwhile; try again';
    end if;
end $$;
