-- Looks for messages without a trace, and with repair makes them ready again. Reads the whole log.
create or replace function :"schema".audit(repair boolean default false, out lost bigint, out repaired bigint)
language plpgsql volatile security definer :pinned as $$
declare
    ids bigint[];
begin
    lost := 0;
    repaired := 0;
    for box in 0..1 loop
        ids := :"schema"._lost_ids(box::smallint, false);
        lost := lost + cardinality(ids);
        if repair and ids <> '{}' then
            perform :"schema"._unbury(box::smallint, ids, true, clock_timestamp());
            repaired := repaired + cardinality(ids);
        end if;
    end loop;
end $$;
