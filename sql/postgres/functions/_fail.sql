-- Fails messages for good: dead letters with the given reason. errors by position, or one for all.
create or replace function :"schema"._fail(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], errors text[], p_reason smallint)
returns bigint[] language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    taken bigint[];
    taken_epochs bigint[];
    taken_errors text[];
begin
    with t as materialized (
        select i as id, t.epoch from :"schema"._take(p_box, p_owner, ids, epochs) t, :"schema"._ids(t.items) i),
    said as (
        select distinct on (u.id) u.id, u.n from unnest(ids) with ordinality u(id, n) order by u.id, u.n)
    select array_agg(t.id order by t.id), array_agg(t.epoch order by t.id),
           array_agg(:"schema"._cap_error(
               case when cardinality(errors) = 1 then errors[1] else errors[s.n] end) order by t.id)
    into taken, taken_epochs, taken_errors
    from t join said s on s.id = t.id;

    if taken is null then
        return '{}';
    end if;
    insert into :"schema".attempt (work_id, at, retry_count, outcome, owner, epoch, error)
    select i.id, ts, coalesce(p.retry_count, 0), 'failed', p_owner, i.epoch, i.error
    from unnest(taken, taken_epochs, taken_errors) i(id, epoch, error)
    left join :"schema".parked p on p.work_id = i.id;
    perform :"schema"._bury(p_box, taken, p_reason, taken_errors, ts);
    return taken;
end $$;
