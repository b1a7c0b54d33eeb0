-- Gives up on the next message of a stream, or resumes it if it is halted. Says which message it goes on behind. BX002:
-- it has none; BX003: one of it is in progress. The library takes the same steps one by one: whoever repeats this gives up
-- one message more.
create or replace function :"schema"._stream_skip(p_box smallint, p_key text) returns bigint
language plpgsql volatile security definer :hot as $$
declare
    killer bigint := :"schema"._halted_by(p_box, p_key);
begin
    if killer is not null then
        return :"schema"._resume_halt(p_box, p_key, killer, false);
    end if;
    return :"schema"._cancel(p_box, :"schema"._stream_head(p_box, p_key), null);
end $$;
