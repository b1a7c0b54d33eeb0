-- _expire_leases for callers that have other things to do. If an open transaction is in the way, nothing happens now:
-- it holds a stream, or a join in which a message that has used up its attempts would count. A message that cannot be
-- released or buried must not stop all others: then each is released by itself. One that fails stays leased for a minute
-- more, and is named in a warning.
create or replace function :"schema"._try_expire_leases(p_box smallint, from_time timestamptz, max_leases int)
returns bigint language plpgsql volatile :hot set lock_timeout = '100ms' as $$
declare
    ts timestamptz := clock_timestamp();
    held record;
    total bigint := 0;
begin
    begin
        return :"schema"._expire_leases(p_box, from_time, max_leases);
    exception
        when lock_not_available then
            return 0;
        when serialization_failure or deadlock_detected then
            raise;
        when others then
            null;   -- each by itself
    end;
    for held in
        select x.owner, x.epoch, i as id from (
            select l.owner, l.epoch, l.items from :"schema".lease l
            where l.box = p_box and l.until >= from_time and l.until <= ts
            order by l.until limit least(max_leases, 20)) x,
            :"schema"._ids(x.items) i
        limit 1000
    loop
        begin
            perform from :"schema"._take_epoch(p_box, held.owner, held.epoch,
                                               int8multirange(int8range(held.id, held.id + 1)));
            if found then
                perform :"schema"._release(p_box, array[held.id], array[held.owner], array[held.epoch], 'lease_expired',
                                           array[0::bigint], array['lease expired'], ts);
                total := total + 1;
            end if;
        exception
            when lock_not_available then
                null;
            when serialization_failure or deadlock_detected then
                raise;
            when others then
                perform :"schema"._warn_of_trouble('its lease has expired and it cannot be released, left for a minute',
                                                   'message ' || held.id, sqlstate);
                update :"schema".lease x set until = ts + interval '1 minute'
                where x.box = p_box and x.epoch = held.epoch and x.items @> held.id;
        end;
    end loop;
    return total;
end $$;
