-- The name of the box whose messages a reader reads.
create or replace function :"schema"._log_name(reader smallint) returns text
language plpgsql stable as $$
begin
    return case case when reader < 2 then reader else :"schema"._log_box(reader) end when 0 then 'outbox' else 'inbox' end;
end $$;
