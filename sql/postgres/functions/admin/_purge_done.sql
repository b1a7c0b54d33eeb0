-- Purges done messages past their retention. The rows in finished drive this: it removes whole rows, until about
-- max_messages messages are gone. Returns how many. Only the upkeep that has its turn (_upkeep_turn) removes these
-- rows, so they need no locks, each of which would be a record in the WAL. It comes after _fold_tally.
--
-- The look begins where the last round ended (finished_from), so it does not read again what earlier rounds removed.
-- Rows that _fold_tally has counted (folded) need not be looked for in tally_delta. While that is large, rows that are
-- not counted yet are left to a later round.
create or replace function :"schema"._purge_done(p_box smallint, max_messages int) returns bigint
language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    cutoff timestamptz := ts - make_interval(secs => :"schema"._setting('retention_done', 7 * 86400000.0) / 1000);
    is_large constant boolean := pg_relation_size(':"schema".tally_delta') > 4 << 20;
    next constant bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    l :"schema".upkeep_look;
    firsts bigint[];
    lasts bigint[];
    busy bigint[];
    has_slices constant boolean := p_box = 0 and exists (select from :"schema".schedule_row);
    last timestamptz;
    is_folded boolean;
    purged int8multirange;
    unfolded int8multirange := int8multirange();
    gone bigint[];
    keys uuid[];
    holders uuid[];
begin
    select * into l from :"schema".upkeep_look x where x.box = p_box;
    if not :"schema"._is_own() then
        l.folded := null;   -- its numbers are those of another server
    end if;
    -- xmin has the last 32 bits of a number below `next`. A number that is 2^32 older seems to be younger than it is:
    -- at worst it seems not folded.
    with past as materialized (
        select f.first_id, f.last_id, f.at, f.is_folded from (
            select x.first_id, x.last_id, x.at,
                   coalesce(pg_visible_in_snapshot((next - ((next - x.xmin::text::bigint) & 4294967295))::text::xid8, l.folded),
                            false) as is_folded
            from :"schema".finished x where x.box = p_box and x.at <= cutoff and x.at >= l.finished_from
            order by x.at offset 0) f
        where f.is_folded or not is_large or l.folded is null
        limit max_messages),
    counted as materialized (
        select p.*, sum(p.last_id - p.first_id + 1) over (rows unbounded preceding)
                        - (p.last_id - p.first_id + 1) as before
        from past p)
    select array_agg(c.first_id), array_agg(c.last_id), max(c.at), bool_and(c.is_folded) into firsts, lasts, last, is_folded
    from counted c where c.before < max_messages;
    -- A run stays if another transaction holds one of its keys or slices.
    if p_box = 1 then
        busy := :"schema"._busy_keys(array(
            select generate_series(r.first_id, r.last_id) from unnest(firsts, lasts) r(first_id, last_id)));
    elsif has_slices then
        busy := :"schema"._busy_slices(array(
            select generate_series(r.first_id, r.last_id) from unnest(firsts, lasts) r(first_id, last_id)));
    end if;
    if busy <> '{}' then
        select array_agg(r.first_id), array_agg(r.last_id) into firsts, lasts
        from unnest(firsts, lasts) r(first_id, last_id)
        where not exists (select from unnest(busy) b where b between r.first_id and r.last_id);
    end if;
    if p_box = 1 then   -- the keys remember that they were done
        perform :"schema"._end_keys(array(
            select generate_series(r.first_id, r.last_id) from unnest(firsts, lasts) r(first_id, last_id)));
    end if;
    with deleted as (
        delete from :"schema".finished f where f.box = p_box and f.first_id = any (firsts)
        returning int8range(f.first_id, f.last_id + 1) as run)
    select range_agg(d.run) into purged from deleted d;
    if purged is null then
        return 0;
    end if;
    -- Messages that were not counted yet need not be counted down.
    if not is_folded then
        with dropped as (
            delete from :"schema".tally_delta d
            where d.box = p_box and int8range(d.first_id, d.last_id + 1) <@ purged
            returning int8range(d.first_id, d.last_id + 1) as run)
        select coalesce(range_agg(d.run), '{}') into unfolded from dropped d;
    end if;
    gone := array(select i from :"schema"._ids(purged) i);
    delete from :"schema".attempt a where a.work_id = any (gone);
    delete from :"schema".stage s where s.work_id = any (gone);
    with messages as (
        delete from :"schema".message m where m.work_id = any (gone)
        returning m.work_id, m.topic, m.message_id, m.unique_key),
    counted as (
        insert into :"schema".tally as t (box, topic, done)
        select p_box, m.topic, -count(*) from messages m where not unfolded @> m.work_id
        group by m.topic order by m.topic
        on conflict (box, topic) do update set done = t.done + excluded.done)
    select array_agg(m.unique_key), array_agg(m.message_id) into keys, holders
    from messages m where m.unique_key is not null;
    perform :"schema"._forget_keys(keys, holders);
    -- The last chance to count them: from now on nothing can attach them.
    if :"schema"._is_step(purged) then
        perform :"schema"._count_steps(purged, 1::smallint, clock_timestamp());
    end if;
    if has_slices then
        perform :"schema"._complete_slices(gone);
    end if;
    update :"schema".upkeep_look x
    set finished_from = last,
        look_at = case when l.finished_from > '-infinity' then x.look_at   -- this was a look at everything, and may have taken long
                       else greatest(x.look_at, ts + least(20 * (clock_timestamp() - ts), interval '10 minutes')) end
    where x.box = p_box;
    return cardinality(gone);
end $$;
