-- Takes the turn of the one upkeep of a box that folds counters and purges done messages. True: this transaction has it
-- until it ends. No upkeep waits for it: the one that has it does the same work.
create or replace function :"schema"._upkeep_turn(box smallint) returns boolean
language plpgsql volatile :pinned as $$
begin
    if box = 0 then
        lock table :"schema".outbox_upkeep in share update exclusive mode nowait;
    elsif box = 1 then
        lock table :"schema".inbox_upkeep in share update exclusive mode nowait;
    else
        execute format('lock table %s in share update exclusive mode nowait', :"schema"._own('upkeep', box));
    end if;
    return true;
exception when lock_not_available then
    return false;
end $$;
