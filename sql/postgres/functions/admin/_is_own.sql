-- Do the transaction ids in the log belong to this cluster and this table? If the number of this cluster, or the one
-- that the store has noted, is not known, the row in origin tells: it still is the one that was written here.
create or replace function :"schema"._is_own() returns boolean
language plpgsql stable :pinned as $$
declare
    identifier constant text := :"schema"._system_identifier();
begin
    return exists (
        select from :"schema".store s
        where s.message_oid = ':"schema".message'::regclass
          and case when identifier = 'unknown' or s.system_identifier = 'unknown'
                   then exists (select from :"schema".origin o where o.xid = o.xmin::text::bigint)
                   else s.system_identifier = identifier end);
end $$;
