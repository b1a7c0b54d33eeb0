-- What claims inside a transaction leave undone: clears what has expired, fills the pool if it is empty, and sorts messages of
-- streams. There may be nobody who claims in any other way. Waits for nobody, or not for long.
create or replace function :"schema"._tend(p_box smallint) returns void
language plpgsql volatile as $$
declare
    f :"schema".frontier;
    is_empty boolean;
    are_due boolean;
begin
    perform :"schema"._clear_expired(p_box, interval '0');
    f := :"schema"._frontier(p_box, 0::smallint);
    is_empty := not exists (select from :"schema".pool p where p.box = p_box and p.place >= f.pool_from and p.holder is null);
    are_due := :"schema"._are_streams_due(p_box, f.due_from, clock_timestamp());
    if (is_empty or are_due) and :"schema"._try_turn(p_box) then
        if is_empty then
            perform :"schema"._fill_pool(p_box);
        end if;
        if are_due then
            perform :"schema"._tend_streams(p_box, f.due_from);
        end if;
    end if;
end $$;
