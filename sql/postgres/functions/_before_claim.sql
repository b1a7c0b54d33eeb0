-- What a claim does before its turn, since it may wait for locks, a little: expired leases and expired messages are dealt
-- with. A transaction that claims from both boxes does this for both before it takes the first turn.
create or replace function :"schema"._before_claim(p_box smallint) returns void
language plpgsql volatile as $$
declare
    f :"schema".frontier;
    ts timestamptz := clock_timestamp();
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception using errcode = 'BX004',
            message = 'claim works under READ COMMITTED only, not ' || current_setting('transaction_isolation'),
            hint = 'Begin the transaction with BEGIN ISOLATION LEVEL READ COMMITTED.';
    end if;
    f := :"schema"._frontier(p_box, 0::smallint);
    if ts >= f.look_at then
        f.lease_from := '-infinity';
        f.expiring_from := '-infinity';
    end if;
    if exists (select from :"schema".lease l
               where l.box = p_box and l.until >= f.lease_from and l.until <= ts) then
        perform :"schema"._try_expire_leases(p_box, f.lease_from, 20);
    end if;
    if exists (select from :"schema".parked p where p.box = p_box and p.epoch is null
                 and p.expires_at >= f.expiring_from and p.expires_at <= ts) then
        perform :"schema"._try_bury_expired(p_box, 1000);
    end if;
end $$;
