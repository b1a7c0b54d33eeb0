-- Whether a stream's time has come. The order leaves no choice of index, not even to a plan that was made while the
-- table was empty.
create or replace function :"schema"._has_due_stream(
    p_box smallint, p_suspect boolean, due_from timestamptz, ts timestamptz)
returns boolean language plpgsql stable as $$
begin
    return coalesce((
        select true from :"schema".stream s
        where s.box = p_box and s.suspect = p_suspect and s.available_at >= due_from and s.available_at <= ts
        order by s.box, s.suspect, s.available_at limit 1), false);
end $$;
