-- A setting as a number, or its default. Durations are in milliseconds.
create or replace function :"schema"._setting(wanted text, fallback double precision) returns double precision
language plpgsql stable :pinned as $$
begin
    return coalesce((select s.number from :"schema".setting s where s.name = wanted), fallback);
end $$;
