-- _events_that_fit for the events of a stream from a version on.
create or replace function :"schema"._versions_that_fit(p_stream text, p_from bigint, p_most int) returns int
language plpgsql stable :hot as $$
begin
    if (select coalesce(sum(x.bytes), 0) <= :event_page_bytes
        from (select :"schema"._event_bytes(e.payload, e.headers) as bytes from :"schema".event_row e
              where e.stream = p_stream and e.version >= p_from order by e.version limit p_most) x) then
        return p_most;
    end if;
    return (
        select count(*)
        from (select row_number() over w as nth, sum(x.bytes) over w as bytes
              from (select e.version, :"schema"._event_bytes(e.payload, e.headers) as bytes from :"schema".event_row e
                    where e.stream = p_stream and e.version >= p_from order by e.version limit p_most) x
              window w as (order by x.version rows unbounded preceding)) z
        where z.nth = 1 or z.bytes <= :event_page_bytes);
end $$;
