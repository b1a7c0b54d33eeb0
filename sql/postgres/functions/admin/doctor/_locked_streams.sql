-- Streams that a transaction has locked just now, each with the number of that transaction, or of a part of it. Claims
-- pass over such streams silently, and the server lists locks on rows only while a session waits for one. But the row
-- itself has the number of the transaction that locked it last; this asks whether that one still runs. In bounded work:
-- the first 10,000 streams by key, and those that a session waits for.
create or replace function :"schema"._locked_streams(p_box smallint) returns table (stream text, xid xid)
language plpgsql stable security definer :pinned as $$
#variable_conflict use_column
declare
    newest constant bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;   -- from here on no transaction has ended
begin
    return query
    with looked as materialized (
        (select s.key, s.xmax as xid from :"schema".stream s where s.box = p_box order by s.box, s.key limit 10000)
        union
        select s.key, s.xmax from pg_locks l
        join :"schema".stream s on s.ctid = format('(%s,%s)', l.page, l.tuple)::tid and s.box = p_box
        where l.locktype = 'tuple' and l.relation = ':"schema".stream'::regclass
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
    ), numbered as materialized (
        -- How far from the newest: a row has 32 bits of the number.
        select k.key, k.xid, (k.xid::text::bigint - newest) & 4294967295 as ahead from looked k where k.xid <> 0)
    select n.key, n.xid from numbered n
    where case when n.ahead < 2147483648 then true
               when newest + n.ahead - 4294967296 >= 3
               then pg_xact_status((newest + n.ahead - 4294967296)::text::xid8) = 'in progress' end;
end $$;
