-- Raises the error that there is no such subscription (BX002).
create or replace function :"schema"._no_reader(which text) returns void
language plpgsql immutable :pinned as $$
begin
    raise exception using errcode = 'BX002', column = 'subscription', message = 'subscription ' || coalesce(which, '?') || ' does not exist',
        hint = 'boxcar subscription ls lists them.';
end $$;
