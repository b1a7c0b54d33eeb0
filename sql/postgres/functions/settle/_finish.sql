-- Notes that messages are done. The caller has taken them out of their leases one by one. Arrays go together by
-- position.
create or replace function :"schema"._finish(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    items int8multirange := :"schema"._multirange(ids);
begin
    insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
    select i.id, i.id, p_box, i.epoch, p_owner, ts from unnest(ids, epochs) i(id, epoch);
    insert into :"schema".tally_delta (first_id, last_id, box) select i, i, p_box from unnest(ids) i;
    perform :"schema"._unpark(p_box, ids, epochs, ts);
    if :"schema"._is_step(items) then
        perform :"schema"._count_steps(items, 1::smallint, ts);
    end if;
end $$;
