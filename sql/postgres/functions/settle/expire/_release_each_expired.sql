-- _expire_leases, message by message: one that cannot be released or buried stays leased for a minute more, and is
-- named in a warning. Returns how many were released.
create or replace function :"schema"._release_each_expired(p_box smallint, from_time timestamptz, max_leases int) returns bigint
language plpgsql volatile as $$
declare
    ts timestamptz := clock_timestamp();
    held record;
    total bigint := 0;
begin
    for held in
        select x.owner, x.epoch, i as id from (
            select l.owner, l.epoch, l.items from :"schema".lease l
            where l.box = p_box and l.until >= from_time and l.until <= ts order by l.until limit max_leases) x,
            :"schema"._ids(x.items) i
        limit 1000
    loop
        begin
            perform from :"schema"._take_epoch(p_box, held.owner, held.epoch, int8multirange(int8range(held.id, held.id + 1)));
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
