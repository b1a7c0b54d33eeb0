-- Might any of these messages be a pending member of a join? Two index probes per run of ids.
create or replace function :"schema"._is_step(items int8multirange) returns boolean
language plpgsql stable :hot as $$
begin
    return exists (select from :"schema"._steps(items));
end $$;
