-- Do the transaction ids in the log belong to this cluster and this table?
create or replace function :"schema"._is_own() returns boolean
language plpgsql stable :pinned as $$
begin
    return exists (
        select from :"schema".store s
        where s.system_identifier = (select c.system_identifier::text from pg_control_system() c)
          and s.message_oid = ':"schema".message'::regclass);
end $$;
