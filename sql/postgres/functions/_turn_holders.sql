-- Who has the claimers' turn of a box just now: at most one. Runs with the caller's rights, since those decide what it may
-- see of others' sessions: seconds is null where it may not. Never the text of a query.
create or replace function :"schema"._turn_holders(p_box smallint)
returns table (pid int, name text, role_name text, state text, seconds double precision)
language plpgsql stable :pinned as $$
#variable_conflict use_column
declare
    turn constant regclass := case p_box when 0 then ':"schema".outbox_turn' else ':"schema".inbox_turn' end;
begin
    return query
        select l.pid, coalesce(a.application_name, x.gid), coalesce(a.usename, x.owner)::text,
               coalesce(a.state, case when x.gid is not null then 'prepared' end),
               extract(epoch from clock_timestamp() - coalesce(a.xact_start, x.prepared))::double precision
        from pg_locks l left join pg_stat_activity a on a.pid = l.pid
        left join pg_prepared_xacts x on l.pid is null and l.virtualtransaction = '-1/' || x.transaction::text
        where l.locktype = 'relation' and l.granted and l.pid is distinct from pg_backend_pid() and l.relation = turn
          and l.database = (select d.oid from pg_database d where d.datname = current_database());
end $$;
