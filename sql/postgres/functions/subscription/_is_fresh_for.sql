-- Whether a reader has not come past this message yet.
create or replace function :"schema"._is_fresh_for(p_reader smallint, p_work_id bigint) returns boolean
language plpgsql stable as $$
begin
    return exists (
        select from :"schema".message m
        where m.work_id = p_work_id and m.lane < 2 and not :"schema"._is_behind(:"schema"._frontier(p_reader, m.lane), m.xid, m.work_id)
          and m.era = (:"schema"._frontier(p_reader, m.lane)).era);
end $$;
