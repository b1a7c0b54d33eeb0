-- Notes in the rows of streams until when they wait, and what is known of their heads. The caller has locked the
-- streams, and their heads may not go yet.
create or replace function :"schema"._put_off_streams(
    p_box smallint, keys text[], until timestamptz[], suspects boolean[], topics text[])
returns void language plpgsql volatile as $$
begin
    update :"schema".stream s set available_at = r.until, suspect = coalesce(r.suspect, false), topic = r.topic
    from unnest(:"schema"._stream_rows(p_box, keys), until, suspects, topics) r(place, until, suspect, topic)
    where s.ctid = r.place;
end $$;
