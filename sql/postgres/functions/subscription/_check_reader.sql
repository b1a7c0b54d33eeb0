-- Is there a reader with this number? The library asks before a request with a part of a subscription stores anything. BX002: no.
create or replace function :"schema"._check_reader(p_reader smallint) returns void
language plpgsql stable security definer :hot as $$
begin
    perform :"schema"._log_box(p_reader);
end $$;
