-- Counts by status, for the whole box and with by_topic per topic. Nothing that can be large is
-- counted to its end: beyond a sample of each source the numbers are estimates (exact = false).
create or replace function :"schema"._stats(p_box smallint, by_topic boolean)
returns table (topic text, ready bigint, waiting bigint, in_progress bigint, done bigint, failed bigint,
               oldest_ready_age_seconds double precision, exact boolean)
language plpgsql stable security definer :pinned as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    sample constant int := 20000;
    few constant int := 3;
begin
    return query
    with parked_rows as materialized (
        select p.topic,
               p.available_at <= ts and coalesce(p.expires_at > ts, true)
                   and (p.stream is null or not exists (
                       select from :"schema".parked h
                       where h.box = p_box and h.stream = p.stream and h.work_id < p.work_id)
                       and not exists (select from :"schema".stream s
                                       where s.box = p_box and s.key = p.stream and s.halted_at is not null)) as ready,
               p.available_at as since, p.work_id, :"schema"._is_untried(p) as untried
        from :"schema".parked p where p.box = p_box and p.epoch is null limit sample),
    -- The few that wait longest, of each topic of the sample and of all that is parked.
    first_parked as materialized (
        select r.topic, r.work_id from (
            select r.*, row_number() over (partition by r.topic order by r.since, r.work_id) as nth
            from parked_rows r where r.ready and r.untried) r
        where r.nth <= few
        union
        (select null, p.work_id from (
            select p.* from :"schema".parked p
            where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0 and p.available_at <= ts
            order by p.available_at limit few) p
         where :"schema"._is_untried(p) and coalesce(p.expires_at > ts, true))),
    fresh_rows as materialized (
        select m.topic,
               coalesce(m.due_at <= ts, true) and coalesce(m.expires_at > ts, true) and (m.stream is null or m.nth = 1 and not exists (
                   select from :"schema".parked h where h.box = p_box and h.stream = m.stream)
                   and not exists (select from :"schema".stream s
                                   where s.box = p_box and s.key = m.stream and s.halted_at is not null)) as ready,
               greatest(m.due_at, m.created_at) as since
        from (select f.*, row_number() over (partition by f.stream order by f.work_id) as nth
              from (select * from :"schema"._fresh f where f.box = p_box limit sample) f) m),
    held as materialized (
        select m.topic, l.until <= ts as ready, l.until as since
        from (select l.until, :"schema"._ids(l.items) as id from :"schema".lease l where l.box = p_box limit sample) l
        join :"schema".message m on m.work_id = l.id),
    delta as materialized (
        select m.topic from (
            select generate_series(d.first_id, d.last_id) as id from (
                select * from :"schema".tally_delta d where d.box = p_box limit sample) d limit sample) d
        join :"schema".message m on m.work_id = d.id),
    deltas_left as (
        select greatest(coalesce(sum(d.last_id - d.first_id + 1), 0) - (select count(*) from delta), 0)::bigint as n
        from (select * from :"schema".tally_delta d where d.box = p_box limit sample) d),
    dead_rows as materialized (
        select d.topic from :"schema".dead d where d.box = p_box limit sample),
    size as (
        select (select count(*) from parked_rows) >= sample as parked,
               (select count(*) from fresh_rows) >= sample as fresh,
               (select count(*) from held) >= sample as held,
               (select count(*) from dead_rows) >= sample as dead,
               (select n from deltas_left) > 0 as delta),
    rows_of as (
        select r.topic, 'p' as source, r.ready, r.since, 0::bigint as done from parked_rows r
        union all select r.topic, 'w', true, w.since, 0
            from first_parked r cross join lateral :"schema"._waits_since(r.work_id) w(since)
        union all select r.topic, 'f', r.ready, r.since, 0 from fresh_rows r
        union all select r.topic, 'h', r.ready, r.since, 0 from held r
        union all select r.topic, 'x', false, null, 0 from dead_rows r
        union all select r.topic, 'd', false, null, 1 from delta r
        union all select t.topic, 'd', false, null, t.done from :"schema".tally t where t.box = p_box and t.done <> 0),
    -- How much more there is than the sample saw, by source.
    scale as (
        select case when s.parked then greatest(1, :"schema"._row_estimate('parked') / sample) else 1 end as p,
               case when s.fresh then greatest(1, :"schema"._fresh_estimate(p_box) / sample) else 1 end as f,
               case when s.dead then greatest(1, :"schema"._row_estimate('dead') / sample) else 1 end as x,
               not (s.parked or s.fresh or s.held or s.dead or s.delta) as exact
        from size s)
    select g.topic,
           (coalesce(sum(s.p) filter (where g.source = 'p' and g.ready), 0)
            + coalesce(sum(s.f) filter (where g.source = 'f' and g.ready), 0)
            + count(*) filter (where g.source = 'h' and g.ready))::bigint,
           (coalesce(sum(s.p) filter (where g.source = 'p' and not g.ready), 0)
            + coalesce(sum(s.f) filter (where g.source = 'f' and not g.ready), 0))::bigint,
           count(*) filter (where g.source = 'h' and not g.ready),
           coalesce(sum(g.done), 0)::bigint
               + case when g.topic is null then (select n from deltas_left) else 0 end,
           coalesce(sum(s.x) filter (where g.source = 'x'), 0)::bigint,
           coalesce(extract(epoch from ts - min(g.since) filter (where g.ready)), 0)::double precision,
           coalesce(bool_and(s.exact), (select z.exact from scale z))
    from (select null::text as topic, r.source, r.ready, r.since, r.done from rows_of r
          union all
          select r.topic, r.source, r.ready, r.since, r.done from rows_of r
          where by_topic and r.topic is not null) g
    cross join scale s
    group by g.topic
    union all
    select null, 0, 0, 0, (select n from deltas_left), 0, 0, true where not exists (select from rows_of)
    order by 1 nulls first;
end $$;
