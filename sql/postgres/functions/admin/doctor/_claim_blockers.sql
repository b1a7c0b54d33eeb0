-- Sessions that keep the claims of a box from going on just now, those first that have done so for longest. A claim
-- needs the turn, and locks on tables that conflict with those of DDL and LOCK TABLE. A session that holds or awaits
-- one of these may wait for another session: to end the first one would not help. So the rows are the sessions at the
-- ends of such chains, which wait for none.
--
-- gid, as a literal: a prepared transaction, which has no pid. relation and mode: its lock on one of Boxcar's tables.
-- behind: a session that waits for it, and for which others wait; null where it is in the way itself.
--
-- command: the shape of its last query. Runs with the caller's rights (_session).
create or replace function :"schema"._claim_blockers(p_box smallint)
returns table (pid int, gid text, name text, role_name text, state text, seconds double precision, command text,
               has_turn boolean, relation text, mode text, behind int)
language plpgsql stable :pinned as $$
#variable_conflict use_column
declare
    turn constant regclass := case p_box when 0 then ':"schema".outbox_turn'::regclass when 1 then ':"schema".inbox_turn'::regclass
                                        else to_regclass(format('%I.%I', :'schema', 'turn_' || coalesce(p_box, -1))) end;
begin
    return query
    with recursive lock as materialized (
        -- Several sessions can be told apart by pid, prepared transactions by vxid.
        select l.*, case when l.pid is null then l.virtualtransaction end as vxid from pg_locks l
    ), direct as (
        select l.pid, l.vxid, bool_or(l.relation = turn) as has_turn,
               min(c.relname::text) filter (where l.relation <> turn and l.granted) as relation,
               min(l.mode) filter (where l.relation <> turn and l.granted) as mode
        from lock l join pg_class c on c.oid = l.relation
        where l.locktype = 'relation' and l.pid is distinct from pg_backend_pid()
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and (l.relation = turn and l.granted
                   and l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
               or c.relnamespace = ':"schema"'::regnamespace
                   and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))
        group by l.pid, l.vxid
    ), way as (
        select d.pid, d.vxid, null::int as behind, pg_blocking_pids(d.pid) as blockers from direct d
        union
        select b.pid, b.vxid, coalesce(w.behind, w.pid), pg_blocking_pids(b.pid)
        from way w cross join lateral (
            select p.pid, null::text as vxid from unnest(w.blockers) p(pid) where p.pid <> 0
            union
            select null, h.vxid   -- a prepared transaction, which is 0 among the blockers
            from lock l join lock h on h.vxid is not null and h.granted and h.locktype = l.locktype
                 and (h.database, h.relation, h.page, h.tuple, h.transactionid, h.classid, h.objid, h.objsubid)
                     is not distinct from
                     (l.database, l.relation, l.page, l.tuple, l.transactionid, l.classid, l.objid, l.objsubid)
            where l.pid = w.pid and not l.granted and 0 = any (w.blockers)) b
    ), root as (
        select w.pid, w.vxid, min(w.behind) as behind from way w
        where coalesce(cardinality(w.blockers), 0) = 0 group by w.pid, w.vxid
    )
    select r.pid, s.gid, s.name, s.role_name, s.state, s.seconds, s.query,
           coalesce(d.has_turn, false), d.relation, d.mode, r.behind
    from root r
    left join direct d on (d.pid, d.vxid) is not distinct from (r.pid, r.vxid)
    cross join lateral :"schema"._session(r.pid, r.vxid) s
    order by 6 desc nulls last;
end $$;
