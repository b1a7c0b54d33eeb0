-- The settings that differ from their defaults.
create or replace function :"schema"._settings() returns setof :"schema".setting
language plpgsql stable security definer :pinned as $$
begin
    return query select * from :"schema".setting s order by s.name;
end $$;
