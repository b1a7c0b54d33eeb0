-- Takes the turn of the one upkeep of a box that folds counters and purges what is done: true when we have it, until the
-- end of the transaction. Nobody waits for it: whoever has it does what we would.
create or replace function :"schema"._upkeep_turn(box smallint) returns boolean
language plpgsql volatile :pinned as $$
begin
    if box = 0 then
        lock table :"schema".outbox_upkeep in share update exclusive mode nowait;
    else
        lock table :"schema".inbox_upkeep in share update exclusive mode nowait;
    end if;
    return true;
exception when lock_not_available then
    return false;
end $$;
