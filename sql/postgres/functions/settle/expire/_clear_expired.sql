-- Releases the messages of expired leases, and buries parked messages that have expired, if one of them is overdue for
-- this long.
create or replace function :"schema"._clear_expired(p_box smallint, overdue interval) returns void
language plpgsql volatile as $$
declare
    f :"schema".frontier;
    ts timestamptz := clock_timestamp();
begin
    f := :"schema"._frontier(p_box, 0::smallint);
    if ts >= f.look_at then
        f.lease_from := '-infinity';
        f.expiring_from := '-infinity';
    end if;
    if exists (select from :"schema".lease l
               where l.box = p_box and l.until >= f.lease_from and l.until <= ts - overdue) then
        perform :"schema"._try_expire_leases(p_box, f.lease_from, 20);
    end if;
    if exists (select from :"schema".parked p where p.box = p_box and p.epoch is null
                 and p.expires_at >= f.expiring_from and p.expires_at <= ts - overdue) then
        perform :"schema"._try_bury_expired(p_box, 1000);
    end if;
end $$;
