-- The positions behind p_after, at most p_most, whose events are wanted, and how far this has looked: to the last of
-- them, to the end, or to where one call has done enough. The types both null: every one; the stream null: every one.
-- p_room: the most bytes of these events together (_event_bytes); a first event that is larger comes alone if all room
-- is left. bytes: how many they have.
create or replace function :"schema"._event_choice(
    p_after bigint, p_most int, p_room bigint, exact text[], prefixes text[], p_stream text, p_is_prefix boolean,
    out hits bigint[], out looked_to bigint, out bytes bigint)
language plpgsql stable :hot as $$
declare
    enough constant int := 20000;
    looked bigint;
    total bigint;
begin
    select array_agg(w.n order by w.n) filter (where w.fits), max(w.bytes) filter (where w.fits),
           coalesce(max(w.n), p_after), count(*) filter (where w.wanted)
    into hits, bytes, looked, total
    from (
        select x.n, x.wanted, x.bytes,
               x.wanted and x.nth <= p_most and (x.bytes <= p_room or x.nth = 1 and p_room >= :event_page_bytes) as fits
        from (
            select v.n, v.wanted, count(*) filter (where v.wanted) over o as nth, sum(v.bytes) filter (where v.wanted) over o as bytes
            from (
                select s.first_position + (e.event_no - s.first_id) as n, e.bytes,
                       :"schema"._wanted(e.type, exact, prefixes)
                       and (p_stream is null or case when p_is_prefix then e.stream ^@ p_stream else e.stream = p_stream end)
                           as wanted
                from :"schema"._event_spans(p_after, enough) s
                cross join lateral (
                    select e.event_no, e.type, e.stream, :"schema"._event_bytes(e.payload, e.headers) as bytes
                    from :"schema".event_row e where e.event_no between s.first_id and s.last_id offset 0) e) v
            window o as (order by v.n)) x) w;
    hits := coalesce(hits, '{}');
    bytes := coalesce(bytes, 0);
    looked_to := case when cardinality(hits) >= p_most or cardinality(hits) < total
                      then coalesce(hits[cardinality(hits)], p_after) else looked end;
end $$;
