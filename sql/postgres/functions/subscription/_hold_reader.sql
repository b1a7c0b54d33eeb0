-- Locks a subscription by its name, for a change. It does not wait for long for another change that is not committed. BX002:
-- there is none.
create or replace function :"schema"._hold_reader(p_name text) returns :"schema".reader
language plpgsql volatile :pinned set lock_timeout = '10s' as $$
declare
    r :"schema".reader;
begin
    if p_name is null then
        perform :"schema"._invalid('name', 'is null: give the name of a subscription');
    end if;
    select * into r from :"schema".reader x where x.name = p_name and x.number > 1 for update;
    if not found then
        perform :"schema"._no_reader('"' || left(p_name, 100) || '"');
    end if;
    return r;
end $$;
