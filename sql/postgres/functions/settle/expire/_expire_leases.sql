-- Releases the messages that at most max_leases expired leases still hold. Each has spent an attempt, and is suspect
-- from now on (BX-003). Returns how many messages that were. from_time: no live lease ends before it. Leases that
-- another transaction is settling are passed over.
create or replace function :"schema"._expire_leases(p_box smallint, from_time timestamptz, max_leases int)
returns bigint language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    ids bigint[];
    owners uuid[];
    epochs bigint[];
begin
    if not exists (select from :"schema".lease l
                   where l.box = p_box and l.until >= from_time and l.until <= ts) then
        return 0;
    end if;
    with expired as materialized (
        select l.epoch, l.part from :"schema".lease l
        where l.box = p_box and l.until >= from_time and l.until <= ts
        order by l.until limit max_leases for update skip locked),
    gone as (
        delete from :"schema".lease l using expired x
        where l.box = p_box and l.epoch = x.epoch and l.part = x.part
        returning l.epoch, l.owner, l.items)
    select array_agg(i order by i), array_agg(g.owner order by i), array_agg(g.epoch order by i)
    into ids, owners, epochs
    from gone g, :"schema"._ids(g.items) i;
    if ids is null then
        return 0;
    end if;
    perform :"schema"._release(p_box, ids, owners, epochs, 'lease_expired',
                               array_fill(0::bigint, array[cardinality(ids)]),
                               array_fill('lease expired'::text, array[cardinality(ids)]), ts);
    return cardinality(ids);
end $$;
