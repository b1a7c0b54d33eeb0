-- The library follows events with this: it gives out positions where they may be missing, then reads the wanted events
-- behind p_after, at most p_most and not more than go into a page (_that_fit). The last row is no event
-- (event_id null): its position is how far this call has looked.
create or replace function :"schema"._event_read_all(
    p_after bigint, p_most int, exact text[], prefixes text[], p_stream text, p_is_prefix boolean)
returns setof :"schema".event_entry language plpgsql volatile security definer rows 1000 :hot as $$
#variable_conflict use_column
declare
    everything constant boolean := exact is null and prefixes is null and p_stream is null;
    note :"schema".event_entry;
    found_events bigint;
    look record;
begin
    perform :"schema"._check_event_page('after', p_after, p_most);
    if p_after > 4611686018427387903 then   -- adding to it must not overflow
        note.position := p_after;
        return next note;
        return;
    end if;
    perform :"schema"._sequence_events_behind(p_after, case when everything then p_most else 20000 end);
    if everything then
        p_most := :"schema"._that_fit(array(
            select e.bytes from :"schema"._event_spans(p_after, p_most) s cross join lateral (
                select e.event_no, :"schema"._event_bytes(e.payload, e.headers) as bytes from :"schema".event_row e
                where e.event_no between s.first_id and s.last_id offset 0) e
            order by s.first_position + (e.event_no - s.first_id)));
        return query
            select e.event_id, e.stream, e.version, s.first_position + (e.event_no - s.first_id), e.type, e.payload,
                   e.headers, e.correlation_id, e.created_at, e.causation_id
            from :"schema"._event_spans(p_after, p_most) s
            cross join lateral (
                select e.* from :"schema".event_row e where e.event_no between s.first_id and s.last_id offset 0) e
            order by s.first_position, e.event_no;
        get diagnostics found_events = row_count;
        note.position := p_after + found_events;
    else
        select * into look from :"schema"._event_choice(p_after, p_most, :event_page_bytes, exact, prefixes, p_stream, p_is_prefix);
        return query select * from :"schema"._events_at(look.hits);
        note.position := look.looked_to;
    end if;
    return next note;
end $$;
