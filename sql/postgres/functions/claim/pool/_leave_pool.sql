-- A transaction that has claimed commits: its messages leave the pool now, from the rows in which it found them, or
-- from the rows to which other claimers have moved them because they were held. A claimer keeps such a row for a moment
-- only; if it keeps it longer, the transaction fails.
create or replace function :"schema"._leave_pool(p_box smallint, p_places bigint[], p_items int8multirange) returns void
language plpgsql volatile :hot set lock_timeout = '10s' as $$
declare
    rest int8multirange := p_items;   -- still in the pool
    gone record;
begin
    -- A claimer that claims alone may move them meanwhile: this looks first where they were found and where held ones
    -- are, then everywhere.
    for i in 1 .. 20 loop
        exit when rest = '{}';
        for gone in
            select p.place, p.items - rest as others, p.items * rest as ours from :"schema".pool p
            where p.box = p_box and (i > 2 or p.place = any (p_places) or p.holder is not null) and p.items && rest
            order by p.place for update
        loop
            if gone.others = '{}' then
                delete from :"schema".pool p where p.box = p_box and p.place = gone.place;
            else
                update :"schema".pool p
                set items = gone.others, size = (select sum(upper(r) - lower(r)) from unnest(gone.others) r)
                where p.box = p_box and p.place = gone.place;
            end if;
            rest := rest - gone.ours;
        end loop;
    end loop;
    if rest <> '{}' then
        raise exception using errcode = '40001', message = 'messages of a claim are not where they were; try again';
    end if;
end $$;
