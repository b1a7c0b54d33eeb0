-- Whether a transaction is still open. One that the snapshot does not know yet has not ended either: the snapshot's
-- xmax is the number after the last transaction that has. (Volatile: the snapshot must be newer than the row from which
-- the number is.)
create or replace function :"schema"._is_running(x xid8) returns boolean
language plpgsql volatile as $$
begin
    return x >= pg_snapshot_xmax(pg_current_snapshot()) or pg_xact_status(x) is not distinct from 'in progress';
end $$;
