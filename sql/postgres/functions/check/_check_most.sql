-- How much a call may bring or do at most.
create or replace function :"schema"._check_most(argument text, most int) returns void
language plpgsql immutable :pinned as $$
begin
    if most is null or most < 0 then
        perform :"schema"._invalid(argument, 'is out of range: give 0 to 2147483647');
    end if;
end $$;
