-- Lets a stream go on that `killer` has halted, behind that dead letter or with it. It resumes nothing that another
-- dead letter has halted, so it may be repeated. BX002: no such stream, or no such dead letter any more; BX003: that
-- one does not halt it.
create or replace function :"schema"._resume_halt(p_box smallint, p_key text, killer bigint, replay boolean)
returns bigint language plpgsql volatile security definer :hot as $$
declare
    ts timestamptz := clock_timestamp();
begin
    if :"schema"._halted_by(p_box, p_key) = killer then
        if replay then
            if :"schema"._dead_replay(p_box, array[killer], 'its stream was resumed') = 0 then
                raise exception using errcode = 'BX002',
                    message = format('message %s, which halted stream "%s", is no dead letter any more', killer, p_key),
                    hint = 'Resume the stream without replaying it.';
            end if;
            return killer;   -- that has resumed it
        end if;
        perform from :"schema".stream s where s.box = p_box and s.key = p_key and s.halted_by = killer for update;
        if found then
            update :"schema".stream s set halted_at = null, halted_by = null where s.box = p_box and s.key = p_key;
            perform :"schema"._advance_streams(p_box, array[p_key], ts);
            return killer;
        end if;
    end if;
    if :"schema"._halted_by(p_box, p_key) is not null then
        raise exception using errcode = 'BX003',
            message = format('stream "%s" was resumed and has halted again meanwhile', p_key);
    end if;
    if exists (select from :"schema".parked p where p.box = p_box and p.stream = p_key limit 1)
       or exists (select from :"schema".stream s
                  where s.box = p_box and s.key = p_key collate "C" and :"schema"._is_stream_leased(s))
       or exists (select from :"schema"._fresh m where m.reader = p_box and m.stream = p_key) then
        raise exception using errcode = 'BX003', message = format('stream "%s" is not halted', p_key);
    end if;
    raise exception using errcode = 'BX002', message = format('there is no stream "%s" with unfinished messages', p_key);
end $$;
