-- Subscriptions, as people read them. ready: what is not begun, due or not; held_messages: what is past its retention, or passed
-- over by the main reader, and kept for this one. Counting stops at 10,000.
drop view if exists boxcar_subscription;
create view boxcar_subscription as
select s.name, s.box, s.patterns, s."only", s.status, s.created_at, s.start_at, s.number, s.ready, s.in_progress, s.failed,
       strftime('%Y-%m-%dT%H:%M:%S', s.oldest / 1000000, 'unixepoch')
           || printf('.%06dZ', s.oldest % 1000000) as oldest_unread_at,
       coalesce(max(0, (julianday('now') - 2440587.5) * 86400 - s.oldest / 1e6), 0) as lag_seconds,
       s.held_messages,
       strftime('%Y-%m-%dT%H:%M:%S', s.paused_at / 1000000, 'unixepoch')
           || printf('.%06dZ', s.paused_at % 1000000) as paused_at,
       strftime('%Y-%m-%dT%H:%M:%S', s.rewound_at / 1000000, 'unixepoch')
           || printf('.%06dZ', s.rewound_at % 1000000) as rewound_at,
       s.max_lag_ms, s.max_lag_count
from (
    select r.name, case r.box when 0 then 'outbox' else 'inbox' end as box, r.patterns, r."only" <> 0 as "only",
           case when r.paused_at is null then 'running' else 'paused' end as status,
           strftime('%Y-%m-%dT%H:%M:%S', r.created_at / 1000000, 'unixepoch')
               || printf('.%06dZ', r.created_at % 1000000) as created_at,
           r.start_at, r.number, r.paused_at, r.rewound_at, r.max_lag_ms, r.max_lag_count,
           (select count(*) from (select 1 from boxcar_unread u where u.reader = r.number limit 10000))
               + coalesce((select sum(t.parked + t.behind) from boxcar_tally t where t.box = r.number), 0) as ready,
           coalesce((select sum(t.leased) from boxcar_tally t where t.box = r.number), 0) as in_progress,
           coalesce((select sum(t.dead) from boxcar_tally t where t.box = r.number), 0) as failed,
           (select m.created_at from boxcar_message m where m.work_id = (
                select min(work_id) from (
                    select (select min(p.work_id) from boxcar_reader_parked p where p.box = r.number) as work_id
                    union all select (select min(l.work_id) from boxcar_reader_lease l where l.box = r.number)
                    union all select (select u.work_id from boxcar_unread u where u.reader = r.number
                                      order by u.work_id limit 1)))) as oldest,
           (select count(*) from (
                select 1
                from (select first_id, last_id from boxcar_finished
                      where at <= cast((julianday('now') - 2440587.5) * 86400000000 as integer) - 1000 * cast(coalesce(
                            (select number from boxcar_setting where name = 'retention_done'), 604800000) as integer)
                      union all select first_id, last_id from boxcar_passed
                      union all select work_id, work_id from boxcar_dead
                      where died_at <= cast((julianday('now') - 2440587.5) * 86400000000 as integer)
                            - 1000 * cast(coalesce((select number from boxcar_setting where name = 'retention_dead'),
                                                   2592000000) as integer)) x
                cross join boxcar_wanted w on w.work_id between x.first_id and x.last_id
                where w.reader = r.number limit 10000)) as held_messages
    from boxcar_reader r
    where r.number > 1 and r.name is not null
    limit -1) s; -- so that each column is computed once
