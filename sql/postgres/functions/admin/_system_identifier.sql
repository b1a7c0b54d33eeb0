-- The number of this cluster, or unknown where the server refuses to tell it, as some hosted servers do.
create or replace function :"schema"._system_identifier() returns text
language plpgsql stable :pinned as $$
begin
    if not has_function_privilege('pg_control_system()', 'execute') then
        return 'unknown';
    end if;
    return (select c.system_identifier::text from pg_control_system() c);
end $$;
