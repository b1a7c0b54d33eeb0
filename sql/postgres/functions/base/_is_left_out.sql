-- Has a reader taken this message from the log before its frontier came to it (reader_skip)? Callers ask first whether there
-- may be any such message (skip_flag).
create or replace function :"schema"._is_left_out(p_box smallint, p_work_id bigint) returns boolean
language plpgsql stable as $$
begin
    return exists (select from :"schema".reader_skip k where k.box = p_box and k.work_id = p_work_id);
end $$;
