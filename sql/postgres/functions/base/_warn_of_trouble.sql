-- Something went wrong that must not stop the caller: raises a warning (01BX3), which the library logs. It tells only
-- the code of the error: the error's text could have parts of a payload.
create or replace function :"schema"._warn_of_trouble(what text, concerned text, code text) returns void
language plpgsql volatile as $$
begin
    raise warning using errcode = '01BX3', message = format('%s: %s (SQLSTATE %s)', concerned, what, code),
        hint = 'The server''s log may tell more about this SQLSTATE; boxcar doctor looks for damage.';
end $$;
