-- A page of events is bounded in bytes, since its reader holds all of it in memory. How many of the next p_most events
-- behind a position go into one page; the first one always does. p_most if all of them do, also if there are fewer.
create or replace function :"schema"._events_that_fit(p_after bigint, p_most int) returns int
language plpgsql stable :hot as $$
begin
    if (select coalesce(sum(e.bytes), 0) <= :event_page_bytes
        from :"schema"._event_spans(p_after, p_most) s cross join lateral (
            select :"schema"._event_bytes(e.payload, e.headers) as bytes from :"schema".event_row e
            where e.event_no between s.first_id and s.last_id offset 0) e) then
        return p_most;
    end if;
    return (
        select count(*)
        from (select row_number() over w as nth, sum(e.bytes) over w as bytes
              from :"schema"._event_spans(p_after, p_most) s cross join lateral (
                  select e.event_no, :"schema"._event_bytes(e.payload, e.headers) as bytes from :"schema".event_row e
                  where e.event_no between s.first_id and s.last_id offset 0) e
              window w as (order by s.first_position + (e.event_no - s.first_id) rows unbounded preceding)) z
        where z.nth = 1 or z.bytes <= :event_page_bytes);
end $$;
