-- Takes the turn to give out positions. True: this transaction has it until it ends. The wait is bounded: a long
-- transaction may hold the turn.
create or replace function :"schema"._event_turn(p_wait boolean) returns boolean
language plpgsql volatile :pinned set lock_timeout = '250ms' as $$
begin
    if p_wait then
        lock table :"schema".event_turn in share update exclusive mode;
    else
        lock table :"schema".event_turn in share update exclusive mode nowait;
    end if;
    return true;
exception when lock_not_available then
    return false;
end $$;
