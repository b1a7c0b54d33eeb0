-- One small step of upkeep of a box: reap, expire, fold, purge, each bounded. The caller repeats it,
-- a transaction each, while more is true, and calls _expire_fresh for each lane, which takes the
-- claimers' turn and so wants a transaction of its own.
create or replace function :"schema"._maintain(
    p_box smallint, out reaped bigint, out expired bigint, out purged_done bigint, out purged_dead bigint,
    out more boolean)
language plpgsql volatile security definer :hot as $$
declare
    folded bigint;
    most constant int := 2000;
begin
    reaped := :"schema"._expire_leases(p_box, '-infinity', 50);
    expired := :"schema"._bury_expired(p_box, most);
    folded := :"schema"._fold_tally(p_box, most);
    purged_done := :"schema"._purge_done(p_box, most);
    purged_dead := :"schema"._purge_dead(p_box, most);
    more := reaped > 0 or expired >= most or folded >= most or purged_done >= most or purged_dead >= most;
end $$;
