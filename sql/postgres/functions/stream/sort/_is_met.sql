-- Have claimers dealt with this message of a stream? Its stream's position is behind it, or the stream has no row any
-- more, so nothing of it is left. Claimers came past the message, or took it from the log before they did.
create or replace function :"schema"._is_met(f :"schema".frontier, p_xid xid8, p_work_id bigint, p_stream text)
returns boolean language plpgsql stable as $$
begin
    return coalesce((
        select p_work_id <= s.position and (:"schema"._is_behind(f, p_xid, p_work_id)
                                            or coalesce(p_xid >= f.base_fence, false) and pg_visible_in_snapshot(p_xid, f.target))
        from :"schema".stream s where s.box = f.box and s.key = p_stream collate "C" limit 1),
        :"schema"._is_behind(f, p_xid, p_work_id));
end $$;
