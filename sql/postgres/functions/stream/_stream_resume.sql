-- Lets a halted stream go on, behind the dead letter or with it. BX002: no such stream, or no such dead letter any more;
-- BX003: it is not halted.
create or replace function :"schema"._stream_resume(p_box smallint, p_key text, replay boolean) returns bigint
language plpgsql volatile security definer :hot as $$
begin
    return :"schema"._resume_halt(p_box, p_key, :"schema"._halted_by(p_box, p_key), replay);
end $$;
