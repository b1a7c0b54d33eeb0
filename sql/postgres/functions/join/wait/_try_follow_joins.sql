-- _follow_joins for those who have ended joins by something else, an ack, a burial, a claim. What is wrong with a wait must
-- not undo that: the same message would make every claim fail that meets it. The waits stay due then, for upkeep. Errors
-- that may be gone when the caller tries again are the caller's, and cancelling is never caught.
create or replace function :"schema"._try_follow_joins(p_joins uuid[], ts timestamptz) returns void
language plpgsql volatile as $$
begin
    if not exists (select from :"schema".join_wait w where w.join_id = any (p_joins)) then
        return;   -- without the cost of a subtransaction
    end if;
    begin
        perform :"schema"._follow_joins(p_joins, ts);
    exception
        when serialization_failure or deadlock_detected then
            raise;
        when others then
            perform :"schema"._warn_of_trouble('what waits for a join was not evaluated when it ended, upkeep tries again',
                                               'join ' || array_to_string(p_joins[:10], ', '), sqlstate);
    end;
end $$;
