-- Counts by status, for the whole box and with by_topic per topic. No source that can be large is counted to its end:
-- beyond a sample of each source the numbers are estimates. estimated says which, as flags: 1 ready, 2 waiting, 4
-- in_progress, 8 done, 16 failed, 32 the age; exact: none of them.
create or replace function :"schema"._stats(p_box smallint, by_topic boolean)
returns table (topic text, ready bigint, waiting bigint, in_progress bigint, done bigint, failed bigint,
               oldest_ready_age_seconds double precision, exact boolean, estimated int)
language plpgsql stable security definer :pinned set enable_seqscan = off as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    sample constant int := 20000;
    few constant int := 3;
begin
    return query
    with parked_rows as materialized (
        select (s.parked).topic,
               (s.parked).available_at <= ts and coalesce((s.parked).expires_at > ts, true)
                   and ((s.parked).stream is null or not coalesce((
                       select h.work_id < (s.parked).work_id from :"schema".parked h
                       where h.box = p_box and h.stream >= (s.parked).stream and h.stream <= (s.parked).stream
                       order by h.stream, h.work_id limit 1), false)
                       and not exists (select from :"schema".stream t where t.box = p_box and t.key = (s.parked).stream
                                                                        and t.available_at is null)) as ready,
               (s.parked).available_at as since, (s.parked).work_id, :"schema"._is_untried(s.parked) as untried, s.weight
        from :"schema"._parked_sample(p_box, sample) s),
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
    -- Of a stream only the first message met can be ready, and it stands for itself.
    fresh_rows as materialized (
        select m.topic, m.ready, m.since, case when m.ready and m.stream is not null then 1 else m.weight end as weight
        from (select f.*, coalesce(f.due_at <= ts, true) and coalesce(f.expires_at > ts, true)
                          and (f.stream is null or f.nth = 1 and not coalesce((
                              select true from :"schema".parked h
                              where h.box = p_box and h.stream >= f.stream and h.stream <= f.stream
                              order by h.stream, h.work_id limit 1), false)
                              and not exists (select from :"schema".stream s where s.box = p_box and s.key = f.stream
                                                                               and s.available_at is null)) as ready,
                     greatest(f.due_at, f.created_at) as since
              from (select f.*, row_number() over (partition by f.stream order by f.work_id) as nth
                    from :"schema"._fresh_sample(p_box, sample) f) f) m),
    -- Leases and deltas name runs of work ids. The number of ids is exact; every step-th one gives the topics.
    held_runs as materialized (
        select l.until, lower(r) as first_id, upper(r) - 1 as last_id, upper(r) - lower(r) as length,
               sum(upper(r) - lower(r)) over (rows unbounded preceding) - (upper(r) - lower(r)) as before
        from :"schema".lease l cross join lateral unnest(l.items) r where l.box = p_box),
    held_step as (select greatest(1, ceil(sum(h.length) / sample))::bigint as step from held_runs h),
    held as materialized (
        select m.topic, h.until <= ts as ready, h.until as since, s.step as weight
        from held_step s cross join held_runs h
        cross join lateral generate_series(h.first_id + (s.step - h.before::bigint % s.step) % s.step, h.last_id, s.step) i
        cross join lateral (select m.topic from :"schema".message m where m.work_id = i limit 1) m),
    delta_runs as materialized (
        select d.first_id, d.last_id, d.last_id - d.first_id + 1 as length, d.weight,
               sum(d.last_id - d.first_id + 1) over (rows unbounded preceding) - (d.last_id - d.first_id + 1) as before
        from :"schema"._delta_sample(p_box, 5 * sample) d),
    delta_step as (select greatest(1, ceil(sum(d.length) / sample))::bigint as step from delta_runs d),
    delta as materialized (
        select m.topic, d.weight * s.step as weight
        from delta_step s cross join delta_runs d
        cross join lateral generate_series(d.first_id + (s.step - d.before::bigint % s.step) % s.step, d.last_id, s.step) i
        cross join lateral (select m.topic from :"schema".message m where m.work_id = i limit 1) m),
    dead_rows as materialized (select d.topic, d.weight from :"schema"._dead_sample(p_box, sample) d),
    -- The same for the whole box (topic null) and for each topic. weight: how many a row stands for.
    rows_of as (
        select r.topic, 'p' as source, r.ready, r.since, r.weight from parked_rows r
        union all select r.topic, 'w', true, w.since, 0
            from first_parked r cross join lateral :"schema"._waits_since(p_box, r.work_id) w(since)
        union all select r.topic, 'f', r.ready, r.since, r.weight from fresh_rows r
        union all select r.topic, 'h', r.ready, r.since, r.weight from held r
        union all select r.topic, 'x', false, null, r.weight from dead_rows r
        union all select r.topic, 'd', false, null, r.weight from delta r
        union all select t.topic, 'd', false, null, t.done from :"schema".tally t where t.box = p_box and t.done <> 0),
    whole_of as (
        select r.source, r.ready, r.since, r.weight from rows_of r where r.source in ('p', 'w', 'f', 'x')
        union all select 'h', h.until <= ts, h.until, h.length from held_runs h
        union all select 'd', false, null, d.weight * d.length from delta_runs d
        union all select 'd', false, null, t.done from :"schema".tally t where t.box = p_box),
    -- Which sources were sampled.
    sampled as (
        select coalesce((select bool_or(r.weight <> 1) from parked_rows r), false)
                   or coalesce((select bool_or(r.weight <> 1) from fresh_rows r), false) as waiting,
               coalesce((select s.step > 1 from held_step s), false) as held,
               coalesce((select bool_or(d.weight <> 1) from delta_runs d), false) as deltas,
               coalesce((select s.step > 1 from delta_step s), false) as delta,
               coalesce((select bool_or(r.weight <> 1) from dead_rows r), false) as dead),
    counted as (
        select g.topic,
               coalesce(sum(g.weight) filter (where g.ready), 0)::bigint as ready,
               coalesce(sum(g.weight) filter (where g.source in ('p', 'f') and not g.ready), 0)::bigint as waiting,
               coalesce(sum(g.weight) filter (where g.source = 'h' and not g.ready), 0)::bigint as in_progress,
               coalesce(sum(g.weight) filter (where g.source = 'd'), 0)::bigint as done,
               coalesce(sum(g.weight) filter (where g.source = 'x'), 0)::bigint as failed,
               min(g.since) filter (where g.ready) as since
        from (select null::text as topic, w.* from whole_of w
              union all
              select r.topic, r.source, r.ready, r.since, r.weight from rows_of r where by_topic and r.topic is not null) g
        group by g.topic)
    select c.topic, c.ready, c.waiting, c.in_progress, c.done, c.failed,
           coalesce(extract(epoch from ts - c.since), 0)::double precision, e.flags = 0, e.flags
    from counted c cross join sampled s
    cross join lateral (
        select case when s.waiting then 35 else 0 end
               | case when c.topic is not null and s.held then 4 else 0 end
               | case when s.deltas or c.topic is not null and s.delta then 8 else 0 end
               | case when s.dead then 16 else 0 end as flags) e
    union all
    select null, 0, 0, 0, 0, 0, 0, true, 0 where not exists (select from whole_of)
    order by 1 nulls first;
end $$;
