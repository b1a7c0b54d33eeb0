-- Moves messages to the dead letters: the only way into dead. The caller has taken them out of their leases. errors go
-- with ids by position, or are null. Their streams go on, or halt unless the messages were cancelled, and their joins
-- count failed steps.
create or replace function :"schema"._bury(
    p_box smallint, ids bigint[], p_reason smallint, errors text[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    keys text[];
    met bigint[];
    items int8multirange := :"schema"._multirange(ids);
begin
    with gone as (
        delete from :"schema".parked p where p.work_id = any (ids) and p.box = p_box
        returning p.work_id, p.retry_count, p.crash_count, p.last_error)
    insert into :"schema".dead (work_id, box, reason, died_at, retry_count, crash_count, topic, last_error)
    select m.work_id, p_box, p_reason, ts, coalesce(g.retry_count, 0), greatest(g.crash_count, 0), m.topic,
           coalesce(i.error, g.last_error)
    from unnest(ids, errors) i(id, error)
    join :"schema".message m on m.work_id = i.id
    left join gone g on g.work_id = i.id
    order by m.work_id;
    select array_agg(distinct m.stream), array_agg(m.work_id) into keys, met
    from unnest(ids) i cross join lateral (
        select m.work_id, m.stream from :"schema".message m where m.work_id = i and m.stream is not null limit 1) m
    where exists (select from :"schema".stream s where s.box = p_box and s.key = m.stream);
    if keys is not null then
        perform :"schema"._advance_streams(p_box, keys, ts);
        -- Only streams that are locked by now. _bury_fresh halts those that no claimer had met.
        if p_reason <> 5 then
            perform :"schema"._halt_streams(p_box, met, false, ts);
        end if;
    end if;
    if p_box < 2 and :"schema"._is_step(items) then
        perform :"schema"._count_steps(items, 2::smallint, ts);
    end if;
end $$;
