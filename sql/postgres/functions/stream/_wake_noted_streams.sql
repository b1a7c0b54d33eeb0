-- Wakes streams that could not be woken when a message was sorted in, because another transaction had locked them, if
-- they are free now. Only under the turn.
create or replace function :"schema"._wake_noted_streams(p_box smallint, ts timestamptz) returns void
language plpgsql volatile :hot as $$
declare
    noted text[] := array(
        select distinct n.key from (
            select n.key from :"schema".stream_note n where n.box = p_box order by n.box, n.key limit 1000) n);
    held text[];
begin
    if noted = '{}' then
        return;
    end if;
    held := :"schema"._wake_streams(p_box, noted, ts);
    delete from :"schema".stream_note n where n.box = p_box and n.key = any (noted) and not n.key = any (held);
end $$;
