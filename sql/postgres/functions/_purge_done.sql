-- Purges done messages past their retention, driven by the evidence in finished: whole rows of it,
-- until about max_messages messages are gone. Returns how many.
create or replace function :"schema"._purge_done(p_box smallint, max_messages int) returns bigint
language plpgsql volatile :hot as $$
declare
    cutoff timestamptz := clock_timestamp()
        - make_interval(secs => :"schema"._setting('retention_done', 7 * 86400000.0) / 1000);
    purged_items int8multirange;
    unfolded int8multirange;
    gone bigint[];
begin
    with past as materialized (
        select f.ctid as row, f.items from :"schema".finished f where f.box = p_box and f.at <= cutoff
        order by f.at limit 500 for update skip locked),
    counted as materialized (
        select p.row, p.items, sum(:"schema"._size(p.items)) over (rows unbounded preceding) as total from past p),
    purged as (
        delete from :"schema".finished f using counted s
        where f.ctid = s.row and s.total - :"schema"._size(s.items) < max_messages
        returning f.items)
    select range_agg(r) into purged_items from purged p, unnest(p.items) r;
    if purged_items is null then
        return 0;
    end if;
    gone := array(select i from :"schema"._ids(purged_items) i);
    -- What was not counted yet need not be counted down.
    with dropped as (
        delete from :"schema".tally_delta d where d.box = p_box and d.items <@ purged_items returning d.items)
    select coalesce(range_agg(r), '{}') into unfolded from dropped d, unnest(d.items) r;
    delete from :"schema".attempt a where a.work_id = any (gone);
    with messages as (
        delete from :"schema".message m where m.work_id = any (gone) returning m.work_id, m.topic)
    insert into :"schema".tally as t (box, topic, done)
    select p_box, m.topic, -count(*) from messages m where not unfolded @> m.work_id
    group by m.topic order by m.topic
    on conflict (box, topic) do update set done = t.done + excluded.done;
    return cardinality(gone);
end $$;
