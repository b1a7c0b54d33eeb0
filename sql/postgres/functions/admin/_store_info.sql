-- The versions that a program must know before it uses this store (BX-029), and a name for its logs.
create or replace function :"schema"._store_info(
    out schema_version int, out oldest_program int, out store_id text)
language plpgsql stable security definer :pinned as $$
begin
    select s.schema_version, s.oldest_program, format('postgres:%s/%s', current_database(), :'schema')
    into schema_version, oldest_program, store_id from :"schema".store s;
end $$;
