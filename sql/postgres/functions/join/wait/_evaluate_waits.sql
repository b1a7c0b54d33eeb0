-- Evaluates waits that no lease holds, as _resolve does for those that a worker holds: under leases of this
-- transaction, which no other transaction sees. The epochs of these leases are negative, so they are no claim's. Their
-- owner is a constant that stands for the store itself. Waits that another transaction holds or that left the parking
-- lot are passed over. Waits whose payload makes no sense are failed. Returns how many were evaluated: not all, if
-- their payloads are large.
create or replace function :"schema"._evaluate_waits(ids bigint[], ts timestamptz) returns bigint
language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    no_owner constant uuid := '00000000-0000-0000-0000-000000000001'::uuid;
    too_long constant text := 'the correlation id of a wait is longer than :correlation_id_max characters';   -- from before it was checked
    held bigint[];
    good record;
    bad record;
begin
    ids := :"schema"._first_bytes(ids, 16 << 20);
    with free as materialized (
        select p.work_id from :"schema".parked p
        where p.work_id = any (ids) and p.box = 0 and p.epoch is null and p.stream is null and coalesce(p.expires_at > ts, true)
        order by p.work_id for update skip locked),
    taken as (
        update :"schema".parked p set epoch = -p.work_id from free f where p.work_id = f.work_id and p.box = 0 returning p.work_id),
    leased as (
        insert into :"schema".lease (box, epoch, owner, until, items, has_parked)
        select 0, -t.work_id, no_owner, ts + interval '1 minute', int8multirange(int8range(t.work_id, t.work_id + 1)), true
        from taken t)
    select array_agg(t.work_id order by t.work_id) into held from taken t;
    if held is null then
        return 0;
    end if;
    select array_agg(m.work_id) filter (where x.fault is null) as ids,
           array_agg(w.join_id) filter (where x.fault is null) as joins,
           array_agg(w.allow_failures) filter (where x.fault is null) as allow_failures,
           array_agg(w.complete_topic) filter (where x.fault is null) as complete_topics,
           array_agg(w.complete_payload) filter (where x.fault is null) as complete_payloads,
           array_agg(w.fail_topic) filter (where x.fault is null) as fail_topics,
           array_agg(w.fail_payload) filter (where x.fault is null) as fail_payloads,
           array_agg(m.correlation_id) filter (where x.fault is null) as correlations,
           array_agg(:"schema"._derive_id('boxcar:continuation:', m.message_id::text)) filter (where x.fault is null)
               as continuations
    into good
    from unnest(held) i(id)
    cross join lateral (
        select m.work_id, m.message_id, m.payload, m.correlation_id from :"schema".message m where m.work_id = i.id limit 1) m
    cross join lateral :"schema"._read_wait(m.payload) w
    cross join lateral (select coalesce(w.fault, case when char_length(m.correlation_id) > :correlation_id_max then too_long end)) x(fault);
    if good.ids is not null then
        perform :"schema"._resolve(
            0::smallint, no_owner, good.ids, array(select -i from unnest(good.ids) i), good.joins, good.allow_failures,
            good.complete_topics, good.complete_payloads, good.fail_topics, good.fail_payloads, good.correlations,
            good.continuations);
    end if;
    select array_agg(m.work_id) as ids, array_agg(-m.work_id) as epochs, array_agg(x.fault) as faults into bad
    from unnest(held) i(id)
    cross join lateral (
        select m.work_id, m.payload, m.correlation_id from :"schema".message m where m.work_id = i.id limit 1) m
    cross join lateral :"schema"._read_wait(m.payload) w
    cross join lateral (select coalesce(w.fault, case when char_length(m.correlation_id) > :correlation_id_max then too_long end)) x(fault)
    where i.id <> all (coalesce(good.ids, '{}'));
    if bad.ids is not null then
        perform :"schema"._fail(0::smallint, no_owner, bad.ids, bad.epochs, bad.faults, 1::smallint);
    end if;
    return cardinality(held);
end $$;
