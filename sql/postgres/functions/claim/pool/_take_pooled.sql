-- Takes up to wanted messages out of the pool: all of a row, or its first ids. Needs no turn. The caller has to find
-- out whether another transaction has locked one of them (_sidestep).
create or replace function :"schema"._take_pooled(
    p_box smallint, wanted int, topics text[], pool_from bigint, out taken int8multirange, out total int)
language plpgsql volatile as $$
declare
    most int := 1;
    part int8multirange;
    p record;
begin
    taken := '{}';
    total := 0;
    while total < wanted loop
        part := null;
        for p in select * from :"schema"._pool_rows(p_box, topics, pool_from, most) loop
            if p.size <= wanted - total then
                part := p.items;
                delete from :"schema".pool x where x.box = p_box and x.place = p.place;
            else
                p.size := wanted - total;
                part := :"schema"._first_ids(p.items, p.size);
                update :"schema".pool x set items = x.items - part, size = x.size - p.size
                where x.box = p_box and x.place = p.place;
            end if;
            if not found then   -- a message that stays in the pool is not leased
                raise exception using errcode = '40001', message = 'a row of the pool has changed meanwhile; try again';
            end if;
            taken := case total when 0 then part else taken + part end;
            total := total + p.size;
            exit when total >= wanted;
        end loop;
        exit when part is null;
        most := least(16, 1 + (wanted - total) / p.size);
    end loop;
end $$;
