-- Claimers have come past these messages: those that were buried before need not be remembered any more. A row that is
-- locked belongs to a message that is being removed, and goes with it. Only under the turn.
create or replace function :"schema"._pass_over(ids bigint[]) returns void
language plpgsql volatile as $$
begin
    delete from :"schema".frontier_skip s
    where s.ctid = any (array(
        select x.ctid from :"schema".frontier_skip x where x.work_id = any (ids) for update skip locked));
end $$;
