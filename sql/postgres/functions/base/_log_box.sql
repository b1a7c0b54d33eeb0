-- The box whose messages a reader reads. Callers ask only for subscriptions: the main readers have the numbers of their boxes.
-- BX002: there is no such reader any more.
create or replace function :"schema"._log_box(reader smallint) returns smallint
language plpgsql stable :hot as $$
declare
    box smallint;
begin
    if reader between 0 and 1 then
        return reader;
    end if;
    select r.box into box from :"schema".reader r where r.number = reader and r.removed_at is null;
    if box is null then
        perform :"schema"._no_reader(reader::text);
    end if;
    return box;
end $$;
