-- The settings that differ from their defaults.
create or replace function :"schema"._settings() returns setof :"schema".setting
language sql stable security definer :pinned as $$
    select * from :"schema".setting s order by s.name
$$;
