-- Leases parked messages that head streams, which the caller has locked: up to share of each, before the stream's
-- messages in the log (heads, as in _log_runs). is_first: if a stream has nothing for the claimer, its row notes what
-- is known of it. Only under the turn.
create or replace function :"schema"._claim_odd_heads(
    p_box smallint, p_epoch bigint, due text[], heads bigint[], share int, p_suspect boolean, is_first boolean, ts timestamptz,
    exact text[], prefixes text[], p_except text, out ids bigint[], out held text[])
language plpgsql volatile :hot as $$
declare
    got record;
begin
    got := :"schema"._head_runs(p_box, due, heads, share, p_suspect, true, ts, exact, prefixes, p_except);
    ids := got.ids;
    held := got.held;
    update :"schema".parked p set epoch = p_epoch where p.work_id = any (ids) and p.box = p_box;
    update :"schema".stream s set available_at = null where s.ctid = any (:"schema"._stream_rows(p_box, held));
    if is_first and got.waiting is not null then
        perform :"schema"._put_off_streams(p_box, got.waiting, got.until, got.suspects, got.topics);
    end if;
    if is_first and got.empty is not null then   -- no suspect heads it any more: other claims look for its head
        update :"schema".stream s set suspect = false, available_at = ts, topic = null
        where s.ctid = any (:"schema"._stream_rows(p_box, got.empty)) and s.halted_at is null;
    end if;
end $$;
