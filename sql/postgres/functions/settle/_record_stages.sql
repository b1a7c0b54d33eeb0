-- Notes which stages of leased messages are done, in addition to earlier ones (BX-063): fenced like an ack, but the
-- lease stays. flags go with ids by position, or hold one value for all. Returns the work ids that this owner held.
create or replace function :"schema"._record_stages(
    p_box smallint, p_owner uuid, ids bigint[], epochs bigint[], flags int[])
returns bigint[] language plpgsql volatile security definer :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 0::smallint);
    noted bigint[];
begin
    if cardinality(flags) is null or cardinality(flags) not in (1, cardinality(ids))
       or exists (select from unnest(flags) g where g is null or g not between 1 and 31) then
        perform :"schema"._invalid('stages', 'is missing or has unknown flags: give a sum of 1, 2, 4, 8 and 16 for all, or one for '
                                        'each message');
    end if;
    perform :"schema"._sign_of_life(p_owner);
    -- A transaction that takes the lease over meanwhile waits until this one commits, and sees the stages.
    perform :"schema"._hold_leases(p_box, p_owner, ids);
    with stage_flags as materialized (
        select u.id, bit_or(case when cardinality(flags) = 1 then flags[1] else flags[u.n] end) as flags
        from unnest(ids) with ordinality u(id, n)
        where exists (
            select from :"schema".lease l
            where l.box = p_box and l.owner = p_owner and l.until >= f.lease_from and l.items @> u.id
              and l.epoch = coalesce(nullif(case when cardinality(epochs) = 1 then epochs[1] else epochs[u.n] end, 0),
                                     l.epoch))
        group by u.id),
    stored as (
        insert into :"schema".stage as s (work_id, flags) select d.id, d.flags from stage_flags d order by d.id
        on conflict (work_id) do update set flags = s.flags | excluded.flags)
    select array_agg(d.id order by d.id) into noted from stage_flags d;
    return coalesce(noted, '{}');
end $$;
