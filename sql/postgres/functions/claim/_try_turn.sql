-- Takes the claimers' turn if it is free. True: this transaction has it until it ends (see _turn).
create or replace function :"schema"._try_turn(box smallint) returns boolean
language plpgsql volatile :pinned as $$
begin
    if box = 0 then
        lock table :"schema".outbox_turn in share update exclusive mode nowait;
    else
        lock table :"schema".inbox_turn in share update exclusive mode nowait;
    end if;
    if current_setting('max_prepared_transactions') <> '0' then
        perform :"schema"._note_end(box, true);
    end if;
    return true;
exception when lock_not_available then
    return false;
end $$;
