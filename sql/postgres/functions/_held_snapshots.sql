-- Who keeps vacuum from removing dead rows, the oldest first: sessions in transactions, prepared
-- transactions, replication slots. Runs with the caller's rights, since those decide what it may see of
-- others' sessions: seconds is null where it may not. Never the text of a query.
create or replace function :"schema"._held_snapshots(max_rows int)
returns table (kind text, pid int, name text, state text, seconds double precision, xids bigint)
language plpgsql stable :pinned as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
begin
    return query
    (select case a.backend_type when 'walsender' then 'standby' else 'session' end, a.pid, a.application_name, a.state,
            extract(epoch from ts - a.xact_start)::double precision,
            greatest(age(a.backend_xmin), age(a.backend_xid))::bigint
     from pg_stat_activity a
     where a.pid <> pg_backend_pid() and coalesce(a.backend_xmin, a.backend_xid) is not null
       and (a.datname = current_database() or a.backend_type = 'walsender')
       and coalesce(a.backend_type, '') not in ('autovacuum worker', 'parallel worker')
       and not exists (select from pg_stat_progress_vacuum v where v.pid = a.pid)  -- these hold nothing
     order by a.xact_start, 6 desc limit greatest(max_rows, 0))
    union all
    (select 'prepared', null, x.gid, 'prepared', extract(epoch from ts - x.prepared)::double precision,
            age(x.transaction)::bigint
     from pg_prepared_xacts x where x.database = current_database() order by x.prepared limit greatest(max_rows, 0))
    union all
    (select 'slot', null, s.slot_name::text, case when s.active then 'active' else 'inactive' end, null,
            age(s.xmin)::bigint
     from pg_replication_slots s where s.xmin is not null order by 6 desc limit greatest(max_rows, 0));
end $$;
