-- Buries parked messages whose time to live has ended, at most max_messages of them; returns how many.
create or replace function :"schema"._bury_expired(p_box smallint, max_messages int) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    gone bigint[];
begin
    if not exists (select from :"schema".parked p
                   where p.box = p_box and p.epoch is null and p.expires_at <= ts) then
        return 0;
    end if;
    select array_agg(x.work_id) into gone from (
        select p.work_id from :"schema".parked p
        where p.box = p_box and p.epoch is null and p.expires_at <= ts
        order by p.expires_at limit max_messages for update skip locked) x;
    if gone is null then
        return 0;
    end if;
    insert into :"schema".attempt (work_id, at, retry_count, outcome)
    select p.work_id, ts, p.retry_count, 'expired' from :"schema".parked p where p.work_id = any (gone);
    perform :"schema"._bury(p_box, gone, 3::smallint, null, ts);
    return cardinality(gone);
end $$;
