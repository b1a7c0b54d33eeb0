-- Takes the claimers' turn of a box: true when we have it, until the end of the transaction. It is
-- the last lock a transaction takes; under it nothing waits for another transaction. The wait is
-- bounded, so that a claim inside somebody's long transaction does not hang everyone.
create or replace function :"schema"._turn(box smallint) returns boolean
language plpgsql volatile :pinned set lock_timeout = '2s' as $$
declare
    class int := ':"schema".frontier'::regclass::oid::int;
begin
    if pg_try_advisory_xact_lock(class, box) then
        return true;
    end if;
    perform pg_advisory_xact_lock(class, box);
    return true;
exception when lock_not_available then
    return false;
end $$;
