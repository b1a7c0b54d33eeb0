-- Transactions that have locked streams of a box, those first that did so for longest: how many streams (of those that
-- _locked_streams sees), and one of them. waits_for: a session that this one waits for itself.
--
-- If a part of a transaction has ended (a savepoint that was released, an exception block), the server does not tell to
-- which transaction it belongs. Then this names each transaction whose lock on the table is one that goes with locks on
-- rows.
--
-- Runs with the caller's rights (_session).
create or replace function :"schema"._stream_holders(p_box smallint)
returns table (pid int, gid text, name text, role_name text, state text, seconds double precision, query text,
               streams bigint, stream text, waits_for int)
language plpgsql stable :pinned as $$
#variable_conflict use_column
begin
    return query
    with locked as materialized (
        select k.stream, k.xid from :"schema"._locked_streams(p_box) k
    ), lock as materialized (
        select l.*, case when l.pid is null then l.virtualtransaction end as vxid from pg_locks l
        where l.granted and l.pid is distinct from pg_backend_pid()
    ), exact as (
        select k.stream, k.xid, l.pid, l.vxid from locked k
        join lock l on l.locktype = 'transactionid' and l.transactionid = k.xid
    ), holder as (
        select e.stream, e.pid, e.vxid from exact e
        union
        select k.stream, l.pid, l.vxid from locked k
        join lock l on l.locktype = 'relation' and l.relation = ':"schema".stream'::regclass
             and l.database = (select d.oid from pg_database d where d.datname = current_database())
             and l.mode in ('RowShareLock', 'RowExclusiveLock')
        where k.xid not in (select e.xid from exact e))
    select h.pid, s.gid, s.name, s.role_name, s.state, s.seconds, s.query, h.streams, h.stream,
           (pg_blocking_pids(h.pid))[1]
    from (select h.pid, h.vxid, count(*) as streams, min(h.stream) as stream from holder h group by h.pid, h.vxid) h
    cross join lateral :"schema"._session(h.pid, h.vxid) s
    order by s.seconds desc nulls last;
end $$;
