-- Buries parked messages whose time to live has ended, at most max_messages of each kind; returns how many. A message
-- of a stream only if its stream's row is free: a claim must not wait for a transaction that settles it.
create or replace function :"schema"._bury_expired(p_box smallint, max_messages int) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    gone bigint[];
begin
    perform :"schema"._check_most('max_messages', max_messages);
    if not exists (select from :"schema".parked p
                   where p.box = p_box and p.epoch is null and p.expires_at <= ts) then
        return 0;
    end if;
    gone := array(
        select p.work_id from :"schema".parked p
        where p.box = p_box and p.epoch is null and p.expires_at <= ts and p.stream is null
        order by p.expires_at limit max_messages for update skip locked);
    gone := gone || array(
        select p.work_id from :"schema".parked p join :"schema".stream s on s.box = p_box and s.key = p.stream
        where p.box = p_box and p.epoch is null and p.expires_at <= ts and p.stream is not null
        order by p.expires_at limit max_messages for update skip locked);
    ts := clock_timestamp();   -- after all that is in the history of those that are locked now
    insert into :"schema".attempt (work_id, at, retry_count, outcome, reader)
    select p.work_id, ts, p.retry_count, 'expired', case when p_box > 1 then p_box else 0 end
    from :"schema".parked p where p.work_id = any (gone) and p.box = p_box;
    perform :"schema"._bury(p_box, gone, 3::smallint, null, ts);
    return cardinality(gone);
end $$;
