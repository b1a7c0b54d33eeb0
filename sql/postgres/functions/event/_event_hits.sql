-- The positions behind p_after, at most p_most, whose events somebody wants, and how far it has looked: to the last
-- of them, to the end, or to where one call has done enough. The types both null: every one; the stream null: every
-- one.
create or replace function :"schema"._event_hits(
    p_after bigint, p_most int, exact text[], prefixes text[], p_stream text, p_is_prefix boolean,
    out hits bigint[], out looked_to bigint)
language plpgsql stable :hot as $$
declare
    enough constant int := 20000;
    looked bigint;
begin
    select array_agg(w.n order by w.n) filter (where w.wanted and w.nth <= p_most),
           coalesce(max(w.n), p_after)
    into hits, looked
    from (
        select v.n, v.wanted, count(*) filter (where v.wanted) over (order by v.n) as nth
        from (
            select s.first_position + (e.event_no - s.first_id) as n,
                   :"schema"._wanted(e.type, exact, prefixes)
                   and (p_stream is null or case when p_is_prefix then e.stream ^@ p_stream else e.stream = p_stream end)
                       as wanted
            from :"schema"._event_spans(p_after, enough) s
            cross join lateral (
                select e.event_no, e.type, e.stream from :"schema".event_row e
                where e.event_no between s.first_id and s.last_id offset 0) e) v) w;
    hits := coalesce(hits, '{}');
    looked_to := case when cardinality(hits) >= p_most then hits[p_most] else looked end;
end $$;
