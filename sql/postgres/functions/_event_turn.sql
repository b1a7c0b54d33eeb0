-- Takes the turn of whoever gives out positions: true when we have it, until the end of the transaction. Waiting is
-- bounded: somebody may hold it in a long transaction.
create or replace function :"schema"._event_turn(p_wait boolean) returns boolean
language plpgsql volatile :pinned set lock_timeout = '250ms' as $$
declare
    class int := ':"schema".event_frontier'::regclass::oid::int;
begin
    if pg_try_advisory_xact_lock(class, 0) then
        return true;
    end if;
    if not p_wait then
        return false;
    end if;
    perform pg_advisory_xact_lock(class, 0);
    return true;
exception when lock_not_available then
    return false;
end $$;
