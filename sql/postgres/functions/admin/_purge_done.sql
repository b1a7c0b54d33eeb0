-- Purges done messages past their retention, driven by the evidence in finished: whole rows of it,
-- until about max_messages messages are gone. Returns how many. Only the upkeep that has its turn (_upkeep_turn) removes these
-- rows, so they need no locks, which would be a record of the WAL each.
create or replace function :"schema"._purge_done(p_box smallint, max_messages int) returns bigint
language plpgsql volatile :hot as $$
declare
    cutoff timestamptz := clock_timestamp()
        - make_interval(secs => :"schema"._setting('retention_done', 7 * 86400000.0) / 1000);
    firsts bigint[];
    lasts bigint[];
    purged int8multirange;
    unfolded int8multirange;
    gone bigint[];
    keys uuid[];
    holders uuid[];
begin
    with past as materialized (
        select f.first_id, f.last_id from :"schema".finished f where f.box = p_box and f.at <= cutoff
        order by f.at limit max_messages),
    counted as materialized (
        select p.first_id, p.last_id,
               sum(p.last_id - p.first_id + 1) over (rows unbounded preceding)
                   - (p.last_id - p.first_id + 1) as before
        from past p)
    select array_agg(c.first_id), array_agg(c.last_id) into firsts, lasts from counted c where c.before < max_messages;
    if p_box = 1 then
        firsts := :"schema"._end_runs(firsts, lasts);
    end if;
    with deleted as (
        delete from :"schema".finished f where f.first_id = any (firsts)
        returning int8range(f.first_id, f.last_id + 1) as run)
    select range_agg(d.run) into purged from deleted d;
    if purged is null then
        return 0;
    end if;
    -- What was not counted yet need not be counted down.
    with dropped as (
        delete from :"schema".tally_delta d
        where d.box = p_box and int8range(d.first_id, d.last_id + 1) <@ purged
        returning int8range(d.first_id, d.last_id + 1) as run)
    select coalesce(range_agg(d.run), '{}') into unfolded from dropped d;
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
    -- The last chance to count them, now that nobody can attach them any more.
    if :"schema"._is_step(purged) then
        perform :"schema"._count_steps(purged, 1::smallint, clock_timestamp());
    end if;
    return cardinality(gone);
end $$;
