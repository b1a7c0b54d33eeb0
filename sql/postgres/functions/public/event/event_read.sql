-- The events of a stream from a version on, in order. A stream to which nothing was appended has none. One call
-- returns at most one page (_that_fit): only an empty answer is the end.
create or replace function :"schema".event_read(
    stream text, from_version bigint default 1, max_events int default 1000)
returns setof :"schema".event_entry language plpgsql stable security definer rows 1000 :hot as $$
#variable_conflict use_variable
begin
    perform :"schema"._check_append(stream, null);
    perform :"schema"._check_event_page('from_version', from_version, max_events);
    return query
        select e.event_id, e.stream, e.version, e.position, e.type, e.payload, e.headers, e.correlation_id, e.created_at,
               e.causation_id
        from :"schema".event e where e.stream = event_read.stream and e.version >= from_version
        order by e.version limit :"schema"._that_fit(array(
            select :"schema"._event_bytes(x.payload, x.headers) from :"schema".event_row x
            where x.stream = event_read.stream and x.version >= from_version order by x.version limit max_events));
end $$;
