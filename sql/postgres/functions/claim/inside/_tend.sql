-- Does what claims inside a transaction leave undone: clears what has expired, moves the frontier, frees messages whose
-- holders have ended, and sorts messages of streams. There may be no claimer that claims in another way. Does not wait,
-- or not for long.
create or replace function :"schema"._tend(p_box smallint) returns void
language plpgsql volatile :hot as $$
begin
    perform :"schema"._clear_expired(p_box, interval '0');
    if :"schema"._turn(p_box, false) then
        perform :"schema"._free_pool(p_box);
        perform :"schema"._fill_pool(p_box);
        perform :"schema"._tend_streams(p_box, (:"schema"._frontier(p_box, 0::smallint)).due_from);
    end if;
end $$;
