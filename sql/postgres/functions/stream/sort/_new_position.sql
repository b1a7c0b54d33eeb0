-- Where a stream without a row begins. f: the newest frontier of the streamed lane. The position is behind all messages
-- of the stream that claimers came past, and before those that they have not met and may not compare with it
-- (_come_past_streams). A message that they do compare with it is parked if it comes late.
create or replace function :"schema"._new_position(f :"schema".frontier, p_key text) returns bigint
language plpgsql stable as $$
declare
    low constant bigint := case when f.whole then f.target_low else f.base_low end;
    top constant bigint := case when f.whole then f.target_top else f.base_top end;
    known constant pg_snapshot := case when f.whole then f.target else f.base end;
begin
    return greatest(low, (
        select max(x.work_id) from :"schema".message x
        where x.box = f.log_box and x.lane = 1 and x.stream >= p_key and x.stream <= p_key and x.era = f.era
          and x.work_id > low and x.work_id <= top and pg_visible_in_snapshot(x.xid, known)));
end $$;
