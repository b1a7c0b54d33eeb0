-- Sessions in transactions, prepared transactions and replication slots that keep vacuum from removing dead rows, the
-- oldest first. xids: how many transactions ago each began. Runs with the caller's rights (_session).
create or replace function :"schema"._snapshot_holders(max_rows int)
returns table (pid int, gid text, name text, role_name text, state text, seconds double precision, query text,
               kind text, xids bigint)
language plpgsql stable :pinned as $$
#variable_conflict use_column
begin
    return query
    select h.pid, case h.kind when 'prepared' then quote_literal(h.name) end, h.name, h.role_name, h.state,
           extract(epoch from clock_timestamp() - h.since)::double precision,
           case when h.state is not null then :"schema"._query_shape(h.query) end, h.kind, h.xids
    from (
        (select case a.backend_type when 'walsender' then 'standby' else 'session' end as kind, a.pid,
                a.application_name as name, a.usename::text as role_name, a.state, a.xact_start as since, a.query,
                greatest(age(a.backend_xmin), age(a.backend_xid))::bigint as xids
         from pg_stat_activity a
         where a.pid <> pg_backend_pid() and coalesce(a.backend_xmin, a.backend_xid) is not null
           and (a.datname = current_database() or a.backend_type = 'walsender')
           and coalesce(a.backend_type, '') not in ('autovacuum worker', 'parallel worker')
           and not exists (select from pg_stat_progress_vacuum v where v.pid = a.pid)  -- these hold nothing
         order by a.xact_start, 8 desc limit greatest(max_rows, 0))
        union all
        (select 'prepared', null, x.gid, x.owner::text, 'prepared', x.prepared, null, age(x.transaction)::bigint
         from pg_prepared_xacts x where x.database = current_database() order by x.prepared limit greatest(max_rows, 0))
        union all
        (select 'slot', null, s.slot_name::text, null, case when s.active then 'active' else 'inactive' end, null, null,
                age(s.xmin)::bigint
         from pg_replication_slots s where s.xmin is not null order by 8 desc limit greatest(max_rows, 0))) h;
end $$;
