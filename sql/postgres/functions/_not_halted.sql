-- Says why a stream cannot be resumed.
create or replace function :"schema"._not_halted(p_box smallint, p_key text) returns void
language plpgsql stable :hot as $$
begin
    if exists (select from :"schema".parked p where p.box = p_box and p.stream = p_key limit 1)
       or exists (select from :"schema"._fresh m where m.box = p_box and m.stream = p_key) then
        raise exception using errcode = 'BX003', message = format('stream "%s" is not halted', p_key);
    end if;
    raise exception using errcode = 'BX002', message = format('there is no stream "%s" with unfinished messages', p_key);
end $$;
