-- Looks for messages that no claim can find: those that only the log knows although the frontier has passed them, and
-- heads of streams that claimers do not look at. With repair it makes them ready again. Reads the whole log.
create or replace function :"schema".audit(repair boolean default false, out lost bigint, out repaired bigint)
language plpgsql volatile security definer :pinned as $$
declare
    ids bigint[];
    stalled text[];
    box smallint;
begin
    lost := 0;
    repaired := 0;
    for box in select r.number from :"schema".reader r where r.removed_at is null order by r.number loop
        ids := :"schema"._lost_ids(box, false);
        stalled := :"schema"._stalled_streams(box);
        lost := lost + cardinality(ids) + cardinality(stalled);
        if repair and ids <> '{}' then
            perform :"schema"._unbury(box, ids, true, clock_timestamp());
        end if;
        if repair and stalled <> '{}' then
            perform :"schema"._requeue_streams(box, stalled, '{}', clock_timestamp());
        end if;
    end loop;
    if repair then
        repaired := lost;
    end if;
end $$;
