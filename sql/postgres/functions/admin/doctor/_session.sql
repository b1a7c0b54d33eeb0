-- The session of a pid, or the prepared transaction whose locks have this vxid. gid, as a literal: the name of that
-- one. seconds: how long its transaction has been open.
--
-- Runs with the caller's rights, since those decide what the caller may see of others' sessions: state, seconds and
-- query are null where it may see nothing. query: only its shape (_query_shape).
create or replace function :"schema"._session(
    p_pid int, p_vxid text, out gid text, out name text, out role_name text, out state text,
    out seconds double precision, out query text)
language plpgsql stable :pinned as $$
begin
    if p_pid is not null then
        select a.application_name, a.usename::text, a.state, extract(epoch from clock_timestamp() - a.xact_start),
               case when a.state is not null then :"schema"._query_shape(a.query) end
        into name, role_name, state, seconds, query
        from pg_stat_activity a where a.pid = p_pid;
        return;
    end if;
    -- Its locks have the number of the session that prepared it, or after a restart its own.
    select quote_literal(p.gid), p.owner::text, 'prepared', extract(epoch from clock_timestamp() - p.prepared)
    into gid, role_name, state, seconds
    from pg_locks l join pg_prepared_xacts p on p.transaction = l.transactionid
    where l.pid is null and l.virtualtransaction = p_vxid and l.locktype = 'transactionid' limit 1;
end $$;
