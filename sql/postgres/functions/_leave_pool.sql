-- A transaction that has claimed commits: its messages leave the pool now, from the rows in which it found them, or from
-- those where others have put them because they were held. Who has such a row keeps it for a moment only. Then it fills
-- the pool if that is empty, sorts messages of streams and clears what has expired: there may be nobody who claims in any
-- other way.
create or replace function :"schema"._leave_pool(p_box smallint, p_places bigint[], p_items int8multirange) returns void
language plpgsql volatile :hot as $$
declare
    f :"schema".frontier;
    gone record;
    is_empty boolean;
    are_due boolean;
begin
    if p_items <> '{}' then
        perform from :"schema".pool p where p.box = p_box and p.place = any (p_places) order by p.place for update;
        for gone in
            select p.place, p.items - p_items as rest from :"schema".pool p
            where p.box = p_box and (p.place = any (p_places) or p.holder is not null) and p.items && p_items
            order by p.place for update
        loop
            if gone.rest = '{}' then
                delete from :"schema".pool p where p.box = p_box and p.place = gone.place;
            else
                update :"schema".pool p
                set items = gone.rest, size = (select sum(upper(r) - lower(r)) from unnest(gone.rest) r)
                where p.box = p_box and p.place = gone.place;
            end if;
        end loop;
    end if;
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
