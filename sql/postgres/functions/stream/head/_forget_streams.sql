-- These rows of streams, which the caller has locked, have no message. They are removed. But while a window is met in
-- part they stay, since their positions tell which of its messages were taken. Only under the turn.
create or replace function :"schema"._forget_streams(p_box smallint, places tid[], ts timestamptz) returns void
language plpgsql volatile :hot as $$
begin
    if (:"schema"._frontier(p_box, 1::smallint)).whole then
        delete from :"schema".stream s where s.ctid = any (places) and s.halted_at is null;
    else
        update :"schema".stream s set available_at = ts + interval '1 second', topic = null
        where s.ctid = any (places) and s.halted_at is null;
    end if;
end $$;
