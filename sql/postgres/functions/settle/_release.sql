-- Puts back messages that the caller has just taken out of their leases: one row each in parked. Everything goes with
-- ids by position. outcome null: no attempt was spent (defer). delays in milliseconds, -1 = the store's backoff.
-- Messages that have used up their attempts are buried.
create or replace function :"schema"._release(
    p_box smallint, ids bigint[], owners uuid[], epochs bigint[], p_outcome text, delays bigint[],
    errors text[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    counted int := (p_outcome is not null)::int;
    crashed int := (p_outcome is not distinct from 'lease_expired')::int;
    default_attempts int := :"schema"._setting('max_attempts', 10);
    base double precision := :"schema"._setting('backoff_base', 1000);
    factor double precision := :"schema"._setting('backoff_factor', 2);
    cap double precision := :"schema"._setting('backoff_cap', 60000);
    jitter double precision := :"schema"._setting('backoff_jitter', 0);
    waits text := case p_box when 0 then :"schema"._wait_topic() else '' end;
    exhausted bigint[];
    keys text[];
begin
    insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream, crash_count)
    select m.work_id, p_box, ts, m.expires_at, m.topic, m.stream, -(m.stream is null and m.topic = waits)::int
    from :"schema".message m
    where m.work_id = any (ids) and not exists (select from :"schema".parked x where x.work_id = m.work_id and x.box = p_box)
    order by m.work_id;

    with back as (
        update :"schema".parked p
        set epoch = null,
            retry_count = p.retry_count + counted,
            crash_count = case when p.crash_count < 0 then p.crash_count else p.crash_count + crashed end,
            available_at = ts + case when i.delay < 0 then :"schema"._backoff(
                                         p.retry_count + counted, base, factor, cap, jitter)
                                     else make_interval(secs => i.delay / 1000.0) end,
            last_error = coalesce(i.error, p.last_error)
        from unnest(ids, owners, epochs, delays, errors) i(id, owner, epoch, delay, error)
        where p.work_id = i.id and p.box = p_box
        returning p.work_id, p.retry_count, p.stream, i.owner, i.epoch, i.error),
    history as (
        insert into :"schema".attempt (work_id, at, retry_count, outcome, owner, epoch, error, reader)
        select b.work_id, ts, b.retry_count, p_outcome, b.owner, b.epoch, b.error, case when p_box > 1 then p_box else 0 end
        from back b
        where p_outcome is not null)
    select array_agg(b.work_id) filter (where counted = 1 and b.retry_count >= coalesce(m.max_attempts, default_attempts)),
           array_agg(distinct b.stream) filter (where b.stream is not null)
    into exhausted, keys
    from back b cross join lateral (
        select m.max_attempts from :"schema".message m where m.work_id = b.work_id limit 1) m;

    perform :"schema"._end_quiet(p_box);
    if keys is not null then   -- all of them first: one sorted pass of locks
        perform :"schema"._advance_streams(p_box, keys, ts);
    end if;
    if exhausted is not null then
        perform :"schema"._bury(p_box, exhausted, 2::smallint, null, ts);
    end if;
end $$;
