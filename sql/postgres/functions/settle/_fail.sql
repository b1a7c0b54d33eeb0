-- Fails messages for good: dead letters with the given reason. errors by position, or one for all.
create or replace function :"schema"._fail(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], errors text[], p_reason smallint)
returns bigint[] language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    ours record;
begin
    if p_reason is null or p_reason not between 1 and 5 then
        perform :"schema"._invalid('reason', 'must be 1 to 5');
    end if;
    perform :"schema"._sign_of_life(p_owner);
    select * into ours from :"schema"._take_each(p_box, p_owner, ids, epochs, 0, null, errors);
    if ours.taken is null then
        return '{}'::bigint[];
    end if;
    insert into :"schema".attempt (work_id, at, retry_count, outcome, owner, epoch, error, reader)
    select i.id, ts, coalesce(p.retry_count, 0), 'failed', p_owner, i.epoch, i.error, case when p_box > 1 then p_box else 0 end
    from unnest(ours.taken, ours.taken_epochs, ours.taken_errors) i(id, epoch, error)
    left join :"schema".parked p on p.work_id = i.id and p.box = p_box;
    perform :"schema"._bury(p_box, ours.taken, p_reason, ours.taken_errors, ts);
    return ours.taken;
end $$;
