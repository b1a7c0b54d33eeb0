-- Streams that a claimer may look at (_ready_streams), at most wanted; locked, and passed over if somebody else has them.
create or replace function :"schema"._due_streams(
    p_box smallint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz, exact text[],
    prefixes text[], p_owner uuid, p_except text)
returns text[] language plpgsql volatile as $$
begin
    return :"schema"._lock_ready(
        p_box, :"schema"._ready_streams(p_box, wanted, p_suspect, due_from, ts, exact, prefixes, p_owner, p_except), p_suspect, ts);
end $$;
