-- Finishes messages that may be parts of several leases. done: those that this owner held; off_path: those of them that
-- are parked or of streams, and off_epochs: the epochs of their leases. The caller takes them out of the parking lot,
-- and counts steps of joins.
create or replace function :"schema"._ack_parts(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], ts timestamptz,
    out done int8multirange, out off_path int8multirange, out off_epochs bigint[])
language plpgsql volatile as $$
begin
    with taken as materialized (select * from :"schema"._take(p_box, p_owner, ids, epochs)),
    evidence as (
        insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
        select lower(r), upper(r) - 1, p_box, t.epoch, p_owner, ts from taken t, unnest(t.items) r),
    counted as (
        insert into :"schema".tally_delta (first_id, last_id, box)
        select lower(r), upper(r) - 1, p_box from taken t, unnest(t.items) r)
    select range_agg(r), range_agg(r) filter (where t.has_parked), array_agg(distinct t.epoch) filter (where t.has_parked)
    into done, off_path, off_epochs
    from taken t, unnest(t.items) r;
end $$;
