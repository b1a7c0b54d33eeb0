-- Whether streams have something for a claim: new messages that no claimer has sorted in, or a head that is due. In a
-- store without streams, or whose streams are quiet, this costs a look into empty index ranges.
create or replace function :"schema"._are_streams_due(p_box smallint, due_from timestamptz, ts timestamptz)
returns boolean language plpgsql stable as $$
declare
    f constant :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
begin
    return :"schema"._has_new_streamed(f)
        or :"schema"._has_due_stream(p_box, false, due_from, ts) or :"schema"._has_due_stream(p_box, true, due_from, ts);
end $$;
