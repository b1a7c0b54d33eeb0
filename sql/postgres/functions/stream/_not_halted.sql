-- Raises the reason why a stream cannot be resumed: it is not halted, or it was resumed meanwhile and has halted again.
create or replace function :"schema"._not_halted(p_box smallint, p_key text) returns void
language plpgsql stable :hot as $$
begin
    if :"schema"._halted_by(p_box, p_key) is not null then
        raise exception using errcode = 'BX003',
            message = format('stream "%s" was resumed and has halted again meanwhile', p_key);
    end if;
    if exists (select from :"schema".parked p where p.box = p_box and p.stream = p_key limit 1)
       or exists (select from :"schema".stream s
                  where s.box = p_box and s.key = p_key collate "C" and :"schema"._is_stream_leased(s))
       or exists (select from :"schema"._fresh m where m.box = p_box and m.stream = p_key) then
        raise exception using errcode = 'BX003', message = format('stream "%s" is not halted', p_key);
    end if;
    raise exception using errcode = 'BX002', message = format('there is no stream "%s" with unfinished messages', p_key);
end $$;
