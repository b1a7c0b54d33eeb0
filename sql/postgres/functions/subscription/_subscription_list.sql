-- Subscriptions with their figures, by name; p_name null: all. p_of_policy: those of this policy, or of all policies. p_brief: all figures
-- are 0, and it costs next to nothing. ready, in_progress and failed may be estimates (_stats). The oldest message that it has not
-- ended is looked for among a sample of those that no claim has, the first of those that are parked, and what is leased. held: messages
-- that are past the retention of done messages, or that the main reader did not want, and stay for this one; no more than 2,000 are
-- looked at. A lock on a table makes it fail soon: the doctor asks too.
create or replace function :"schema"._subscription_list(
    p_name text default null, p_of_policy boolean default false, p_brief boolean default false)
returns table (name text, number int, box text, patterns text[], "only" boolean, status text, created_at timestamptz, start_at text,
               paused_at timestamptz, rewound_at timestamptz, max_lag interval, max_lag_count bigint, ready bigint, in_progress bigint,
               failed bigint, oldest_unread_at timestamptz, lag_seconds double precision, held_messages bigint, destinations text[],
               then_topic text, else_topic text)
language plpgsql stable security definer :hot set enable_hashjoin = on set lock_timeout = '2s' as $$
#variable_conflict use_column
declare
    ts constant timestamptz := clock_timestamp();
    most constant int := 2000;
begin
    if not exists (select from :"schema".reader r where r.number > 1) then
        return;
    end if;
    return query
        select r.name::text, r.number::int, case r.box when 0 then 'outbox' else 'inbox' end, r.patterns, r."only",
               case when r.paused_at is null then 'running' else 'paused' end, r.created_at, r.start_at, r.paused_at, r.rewound_at,
               make_interval(secs => r.max_lag_ms / 1000.0), r.max_lag_count, s.ready, s.in_progress, s.failed, o.at,
               coalesce(extract(epoch from ts - o.at), 0)::double precision, o.held, r.destinations, r.then_topic, r.else_topic
        from :"schema".reader r
        cross join lateral (
            select x.ready + x.waiting as ready, x.in_progress, x.failed from :"schema"._stats(r.number, false) x
            where x.topic is null and not p_brief
            union all select 0, 0, 0 where p_brief limit 1) s
        cross join lateral (
            select min(u.created_at) as at,
                   count(*) filter (where u.created_at <= ts - make_interval(
                                        secs => :"schema"._setting('retention_done', 7 * 86400000.0) / 1000)
                                      and (exists (select from :"schema"._finished(r.box, u.work_id))
                                           or not :"schema"._wants(r.box, u.lane, u.era, u.xid, u.topic, u.created_at, u.work_id))) as held
            from (select m.work_id, m.created_at, m.lane, m.era, m.xid, m.topic from (
                      select f.work_id from :"schema"._fresh_sample(r.number, most) f
                      union
                      (select p.work_id from :"schema".parked p where p.box = r.number order by p.work_id limit most)
                      union
                      (select i from :"schema".lease l, :"schema"._ids(l.items) i where l.box = r.number order by i limit most)) w
                  join :"schema".message m on m.work_id = w.work_id
                  where not p_brief) u) o
        where r.number > 1 and r.removed_at is null
          and (p_name is null or p_name = case when p_of_policy then split_part(r.name, '/', 1) else r.name end)
          and (not p_of_policy or r.destinations is not null)
        order by r.name;
end $$;
