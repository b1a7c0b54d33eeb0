-- Extends leases: never shortens one. Renewing a part of a lease splits it off under the same epoch, so that the rest
-- can still expire. Repeats while something of the owner's is left, as in _take: another renewal of the same lease may
-- have split it off meanwhile, or taken the number of a new part. Mostly the first pass renews everything, and there is
-- no second look.
create or replace function :"schema"._renew(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], lease interval)
returns bigint[] language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
    f :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    renewed int8multirange := '{}'::int8multirange;
    got record;
begin
    perform :"schema"._check_lease(lease);
    perform :"schema"._sign_of_life(p_owner);
    loop
        with targets as materialized (
            select nullif(coalesce(case when cardinality(epochs) = 1 then epochs[1] else epochs[u.n] end, 0), 0)
                       as epoch,
                   :"schema"._multirange(array_agg(u.id)) - renewed as wanted
            from unnest(ids) with ordinality u(id, n) group by 1),
        held as materialized (
            select l.epoch, l.part, l.until, l.items, l.has_parked from :"schema".lease l
            where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from
              and exists (select from targets s where s.wanted && l.items and coalesce(s.epoch, l.epoch) = l.epoch)
            order by l.epoch, l.part for update),
        part as materialized (
            select h.epoch, h.part, h.until, h.items, h.has_parked,
                   h.items * (select range_agg(r) from targets s, unnest(s.wanted) r
                              where coalesce(s.epoch, h.epoch) = h.epoch) as hit,
                   (select max(l.part) from :"schema".lease l where l.box = p_box and l.epoch = h.epoch)
                       + row_number() over (partition by h.epoch order by h.part) as new_part
            from held h),
        whole as (
            update :"schema".lease l set until = greatest(l.until, ts + lease) from part p
            where l.box = p_box and l.epoch = p.epoch and l.part = p.part and p.items = p.hit),
        split as (
            insert into :"schema".lease as l (box, epoch, part, owner, until, items, has_parked)
            select p_box, p.epoch, p.new_part, p_owner, greatest(p.until, ts + lease), p.hit, p.has_parked
            from part p where p.items <> p.hit order by p.epoch, p.new_part
            on conflict do nothing returning l.epoch, l.part),
        rest as (
            update :"schema".lease l set items = p.items - p.hit
            from part p join split s on s.epoch = p.epoch and s.part = p.new_part
            where l.box = p_box and l.epoch = p.epoch and l.part = p.part)
        select (select range_agg(r) from targets s, unnest(s.wanted) r) as wanted, range_agg(r) as items into got
        from part p, unnest(p.hit) r
        where p.items = p.hit or exists (select from split s where s.epoch = p.epoch and s.part = p.new_part);
        renewed := renewed + coalesce(got.items, '{}');
        exit when coalesce(got.wanted <@ renewed, true);
        exit when not exists (
            select from :"schema".lease l join unnest(ids) with ordinality u(id, n) on l.items @> u.id
            where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from and not renewed @> u.id
              and l.epoch = coalesce(nullif(case when cardinality(epochs) = 1 then epochs[1] else epochs[u.n] end, 0),
                                     l.epoch));
    end loop;
    return array(select generate_series(lower(r), upper(r) - 1) from unnest(renewed) r);
end $$;
