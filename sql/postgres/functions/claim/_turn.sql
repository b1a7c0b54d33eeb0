-- Takes the claimers' turn of a box: true when we have it, until the end of the transaction. It is
-- the last lock a transaction takes; under it nothing waits for another transaction. The wait is
-- bounded, so that a claim inside somebody's long transaction does not hang everyone.
create or replace function :"schema"._turn(box smallint) returns boolean
language plpgsql volatile :pinned set lock_timeout = '2s' as $$
begin
    if box = 0 then
        lock table :"schema".outbox_turn in share update exclusive mode;
    else
        lock table :"schema".inbox_turn in share update exclusive mode;
    end if;
    if current_setting('max_prepared_transactions') <> '0' then
        perform :"schema"._note_end(box, true);
    end if;
    return true;
exception when lock_not_available then
    return false;
end $$;
