-- Buries a message for one reader, if it is not in progress there (BX-028). Other readers keep it. BX002: there is none; BX003: too late.
create or replace function :"schema"._cancel(p_box smallint, p_work_id bigint, p_message_id uuid) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    id bigint := :"schema"._find_id(p_box, p_work_id, p_message_id);
    state text;
    retries int;
    is_fresh boolean := false;
begin
    if id is null then
        raise exception using errcode = 'BX002', message = 'no such message';
    end if;
    select i.status into state from :"schema"._item i where i.work_id = id and i.reader = p_box;
    if state is distinct from 'ready' then
        raise exception using errcode = 'BX003',
            message = format('message %s is %s and cannot be cancelled', id,
                             coalesce(state, case when p_box < 2 then 'lost' else 'not for this subscription' end));
    end if;
    select p.retry_count into retries from :"schema".parked p
    where p.work_id = id and p.box = p_box and p.epoch is null for update;
    if found then
        ts := clock_timestamp();   -- not before the end of an attempt that this may have waited for
        insert into :"schema".attempt (work_id, at, retry_count, outcome, reader)
        values (id, ts, retries, 'cancelled', case when p_box > 1 then p_box else 0 end);
        perform :"schema"._bury(p_box, array[id], 5::smallint, null, ts);
        return id;
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
    return id;
end $$;
