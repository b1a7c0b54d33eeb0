-- Takes the claimers' turn of a reader. True: this transaction has it until it ends. The turn is the last lock that a
-- transaction takes; under it nothing waits for another transaction. The wait for it is bounded, so that a claim inside
-- a long transaction does not make all others hang. wait false: only if it is free.
create or replace function :"schema"._turn(box smallint, wait boolean) returns boolean
language plpgsql volatile :pinned set lock_timeout = '2s' as $$
begin
    if wait and box = 0 then
        lock table :"schema".outbox_turn in share update exclusive mode;
    elsif wait and box = 1 then
        lock table :"schema".inbox_turn in share update exclusive mode;
    elsif box = 0 then
        lock table :"schema".outbox_turn in share update exclusive mode nowait;
    elsif box = 1 then
        lock table :"schema".inbox_turn in share update exclusive mode nowait;
    else
        execute format('lock table %s in share update exclusive mode %s', :"schema"._own('turn', box), case when not wait then 'nowait' end);
    end if;
    if current_setting('max_prepared_transactions') <> '0' then
        perform :"schema"._note_end(box, true);
    end if;
    return true;
exception when lock_not_available then
    return false;
end $$;
