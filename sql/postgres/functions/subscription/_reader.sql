-- The number of a subscription of a box (null: of any) by its name; null: the main reader of the box. BX002: there is none.
create or replace function :"schema"._reader(name text, box smallint) returns smallint
language plpgsql stable :hot as $$
declare
    found_number smallint;
begin
    if name is null then
        return box;
    end if;
    select r.number into found_number from :"schema".reader r
    where r.name = _reader.name and (_reader.box is null or r.box = _reader.box) and r.number > 1;
    if found_number is null then
        perform :"schema"._no_reader('of this name');   -- it may be anything
    end if;
    return found_number;
end $$;
