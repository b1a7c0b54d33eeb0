-- _bury_expired for callers that have other things to do, as _try_expire_leases. A message that cannot be buried must
-- not stop all others: then each is buried by itself. One that fails is left for a minute, and named in a warning. It is
-- not available until then, so no claimer gets it meanwhile. (A message of a stream just stays: it has expired, so it is
-- not handed out.)
create or replace function :"schema"._try_bury_expired(p_box smallint, max_messages int)
returns bigint language plpgsql volatile :hot set lock_timeout = '100ms' as $$
declare
    ts timestamptz := clock_timestamp();
    id bigint;
    gone bigint[];
    total bigint := 0;
begin
    begin
        return :"schema"._bury_expired(p_box, max_messages);
    exception
        when lock_not_available then
            return 0;
        when serialization_failure or deadlock_detected then
            raise;
        when others then
            null;   -- each by itself
    end;
    foreach id in array array(
        select p.work_id from :"schema".parked p where p.box = p_box and p.epoch is null and p.expires_at <= ts
        order by p.expires_at limit least(max_messages, 100))
    loop
        begin
            gone := array(
                select p.work_id from :"schema".parked p
                where p.work_id = id and p.box = p_box and p.epoch is null and p.stream is null for update skip locked);
            gone := gone || array(
                select p.work_id from :"schema".parked p join :"schema".stream s on s.box = p_box and s.key = p.stream
                where p.work_id = id and p.box = p_box and p.epoch is null for update skip locked);
            ts := clock_timestamp();   -- see _bury_expired
            insert into :"schema".attempt (work_id, at, retry_count, outcome, reader)
            select p.work_id, ts, p.retry_count, 'expired', case when p_box > 1 then p_box else 0 end
            from :"schema".parked p where p.work_id = any (gone) and p.box = p_box;
            perform :"schema"._bury(p_box, gone, 3::smallint, null, ts);
            total := total + cardinality(gone);
        exception
            when lock_not_available then
                null;
            when serialization_failure or deadlock_detected then
                raise;
            when others then
                perform :"schema"._warn_of_trouble('it has expired and cannot be buried, left for a minute',
                                                   'message ' || id, sqlstate);
                update :"schema".parked p
                set available_at = ts + interval '1 minute', expires_at = ts + interval '1 minute'
                where p.box = p_box and p.work_id = (select x.work_id from :"schema".parked x
                                   where x.work_id = id and x.box = p_box and x.epoch is null and x.stream is null for update skip locked);
        end;
    end loop;
    return total;
end $$;
