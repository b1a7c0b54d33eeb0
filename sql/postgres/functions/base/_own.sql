-- The turn, the upkeep's turn, or a sequence of a subscription, which are made with it: they have its number in their name. BX002: it was
-- removed.
create or replace function :"schema"._own(what text, reader smallint) returns regclass
language plpgsql stable :pinned as $$
declare
    found_one constant regclass := to_regclass(format('%I.%I', :'schema', coalesce(what || '_' || reader, '')));
begin
    if (reader > 1) is not true then
        perform :"schema"._invalid('box', 'must be 0, 1 or the number of a subscription');
    end if;
    if found_one is null then
        perform :"schema"._no_reader(reader::text);
    end if;
    return found_one;
end $$;
