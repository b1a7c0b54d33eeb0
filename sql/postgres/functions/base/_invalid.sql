-- Raises an argument error: SQLSTATE BX001, with the argument's name as the column name, so that
-- programs need not read the text.
create or replace function :"schema"._invalid(argument text, problem text) returns void
language plpgsql immutable :pinned as $$
begin
    raise exception using errcode = 'BX001', column = argument, message = argument || ' ' || problem;
end $$;
