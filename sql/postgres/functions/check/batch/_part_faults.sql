-- Every fault of a batch's part for one box.
create or replace function :"schema"._part_faults(part jsonb, place text, lists text[])
returns table (argument text, problem text) language plpgsql stable as $$
declare
    lease_ok boolean;
    claim jsonb := part -> 'claim';
begin
    if jsonb_typeof(part) <> 'object' then
        return query select place, 'must be an object';
        return;
    end if;
    return query
    select format('%s.%s', place, k), 'is not a known name' from jsonb_object_keys(part) k
    where k <> all (lists || array['lease', 'claim', 'return'])
    union all
    select place || '.return', 'must be renewed or owned' where part -> 'return' not in ('null', '"renewed"', '"owned"')
    union all
    select format('%s.%s', place, l), 'must be an array' from unnest(lists) l
    where jsonb_typeof(part -> l) not in ('array', 'null');
    if jsonb_typeof(part -> 'messages') = 'array'
       and (:"schema"._read_messages(part -> 'messages', (place = 'inbox')::int::smallint)).is_usual is not true then
        return query select * from :"schema"._message_faults(part -> 'messages', place || '.messages',
                                                             (place = 'inbox')::int::smallint);
    end if;
    return query
    select f.argument, f.problem
    from unnest(lists) l cross join lateral :"schema"._settlement_faults(
        part -> l, format('%s.%s', place, l),
        case l when 'abandons' then array['error', 'delay', 'stages'] when 'defers' then array['delay', 'stages']
               when 'fails' then array['error', 'stages'] when 'renews' then '{}' else array['stages'] end) f
    where l <> 'messages' and jsonb_typeof(part -> l) = 'array';
    lease_ok := :"schema"._is_castable(part ->> 'lease', 'interval');
    if not lease_ok
       or (part ->> 'lease')::interval not between interval ':lease_ms_min milliseconds' and interval ':lease_hours_max hours' then
        return query select place || '.lease', 'is out of range: give :lease_ms_min milliseconds to :lease_hours_max hours';
    end if;
    if claim is null or jsonb_typeof(claim) = 'null' then
        return;
    end if;
    if jsonb_typeof(claim) <> 'object' then
        return query select place || '.claim', 'must be an object';
        return;
    end if;
    return query
    select format('%s.claim.%s', place, k), 'is not a known name' from jsonb_object_keys(claim) k
    where k not in ('batch_size', 'topics', 'stored')
    union all
    select place || '.claim.stored', 'must be true or false' where jsonb_typeof(claim -> 'stored') not in ('boolean', 'null');
    if not :"schema"._is_castable(claim ->> 'batch_size', 'int') or claim ->> 'batch_size' is null
       or (claim ->> 'batch_size')::int not between 0 and :batch_size_max then
        return query select place || '.claim.batch_size', 'is missing or out of range: give 0 to :batch_size_max';
    end if;
    if claim ? 'topics' and jsonb_typeof(claim -> 'topics') not in ('array', 'null') then
        return query select place || '.claim.topics', 'must be an array of topics, or missing for all';
    elsif jsonb_typeof(claim -> 'topics') = 'array' then
        return query
        select format('%s.claim.topics[%s]', place, t.n - 1),
               'must be a topic of 1 to :topic_max characters, or a prefix and *, with no * elsewhere'
        from jsonb_array_elements(claim -> 'topics') with ordinality t(value, n)
        where jsonb_typeof(t.value) <> 'string' or not :"schema"._is_pattern(t.value #>> '{}');
    end if;
end $$;
