-- Claimers have come past these messages: those that were buried before need not be remembered any more. One whose row
-- somebody holds, because he removes the message, is left to him. Only under the turn.
create or replace function :"schema"._pass_over(ids bigint[]) returns void
language plpgsql volatile as $$
begin
    delete from :"schema".frontier_skip s
    where s.ctid = any (array(
        select x.ctid from :"schema".frontier_skip x where x.work_id = any (ids) for update skip locked));
end $$;
