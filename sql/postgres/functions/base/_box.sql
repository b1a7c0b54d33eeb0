-- The number of a box.
create or replace function :"schema"._box(name text) returns smallint
language plpgsql immutable :pinned as $$
begin
    if name is null or name not in ('outbox', 'inbox') then
        perform :"schema"._invalid('box', 'must be outbox or inbox');
    end if;
    return case name when 'outbox' then 0 else 1 end;
end $$;
