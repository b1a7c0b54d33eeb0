-- Gives out positions, unless there are already as many behind p_after as a reader can use.
create or replace function :"schema"._sequence_events_behind(p_after bigint, p_wanted int) returns void
language plpgsql volatile :hot as $$
begin
    if not exists (
        select from (select f.next_position from :"schema".event_frontier f order by f.seq desc limit 1) f
        where f.next_position - 1 - p_after >= p_wanted) then
        perform :"schema"._sequence_events(50000, true);
    end if;
end $$;
