-- The events of all streams after a position, in the order of positions. types, stream: exact, or a prefix followed by
-- *; null = all. A reader that remembers the last position that it has seen, and asks for the events after it, misses
-- nothing. One call returns at most one page, and at least one event if there is any (_that_fit): only an empty answer
-- is the end. In a transaction that is rolled back, forget what you read: its positions were not given out then.
create or replace function :"schema".event_read_all(
    after bigint default 0, max_events int default 1000, types text[] default null, stream text default null)
returns setof :"schema".event_entry language plpgsql volatile security definer rows 1000 :hot as $$
#variable_conflict use_variable
declare
    at bigint := least(after, 4611686018427387903);   -- adding to it must not overflow
    missing int := max_events;
    room bigint := :event_page_bytes;
    exact text[];
    prefixes text[];
    prefix boolean := stream like '%*';
    place text := case when stream like '%*' then left(stream, -1) else stream end;
    look record;
begin
    perform :"schema"._check_event_page('after', after, max_events);
    if types is not null then
        if types = '{}' or exists (select from unnest(types) t where not :"schema"._is_pattern(t)) then
            perform :"schema"._invalid('types', 'must be types of 1 to :event_type_max characters, or prefixes and *, with no * '
                                                'elsewhere; or null for all');
        end if;
        select coalesce(array_agg(t) filter (where t not like '%*'), '{}'),
               coalesce(array_agg(left(t, -1)) filter (where t like '%*'), '{}')
        into exact, prefixes from unnest(types) t;
    end if;
    if not :"schema"._is_pattern(stream) and stream is not null then
        perform :"schema"._invalid('stream', 'must have 1 to :stream_max characters, or be a prefix and *, with no * elsewhere; '
                                             'or null for all');
    end if;
    if types is null and stream is null then
        return query
            select e.* from :"schema"._event_read_all(at, max_events, null, null, null, null) e
            where e.event_id is not null;
        return;
    end if;
    -- Only wanted events count, so this goes on until there are enough of them, or no room, or no more.
    loop
        perform :"schema"._sequence_events_behind(at, 20000);
        select * into look from :"schema"._event_choice(at, missing, room, exact, prefixes, place, prefix);
        return query select e.* from :"schema"._events_at(look.hits) e;
        missing := missing - cardinality(look.hits);
        room := room - look.bytes;
        exit when missing <= 0 or room <= 0 or look.looked_to = at;
        at := look.looked_to;
    end loop;
end $$;
