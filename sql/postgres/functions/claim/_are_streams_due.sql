-- Whether streams have something for a claim: new messages that nobody has sorted in, or a head whose time has come. Stores
-- without streams, and those whose streams are quiet, get past here with a look into empty index ranges.
create or replace function :"schema"._are_streams_due(p_box smallint, due_from timestamptz, ts timestamptz)
returns boolean language plpgsql stable as $$
declare
    f constant :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
begin
    return pg_snapshot_xmin(f.base) <> pg_snapshot_xmax(f.base)
        or exists (select from :"schema".message m
                   where m.box = p_box and m.lane = 1 and m.era = f.era and m.xid >= pg_snapshot_xmax(f.base))
        or :"schema"._has_due_stream(p_box, false, due_from, ts) or :"schema"._has_due_stream(p_box, true, due_from, ts);
end $$;
