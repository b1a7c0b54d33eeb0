-- Every fault of a list of settlements: each is a work id or a message id, or an object with one of them and the list's
-- own fields.
create or replace function :"schema"._settlement_faults(list jsonb, place text, names text[])
returns table (argument text, problem text) language plpgsql stable as $$
begin
    return query
    with entries as materialized (
        select format('%s[%s]', place, e.n - 1) as place,
               case jsonb_typeof(e.o) when 'object' then e.o when 'number' then jsonb_build_object('work_id', e.o)
                    when 'string' then jsonb_build_object('message_id', e.o) else '{}' end as o,
               jsonb_typeof(e.o) in ('object', 'number', 'string') as is_one, jsonb_typeof(e.o) = 'string' as is_text
        from jsonb_array_elements(list) with ordinality e(o, n)),
    tried as materialized (
        select s.*, :"schema"._is_castable(s.o ->> 'work_id', 'bigint') as id_ok,
               :"schema"._is_castable(s.o ->> 'message_id', 'uuid') as message_ok,
               :"schema"._is_castable(s.o ->> 'epoch', 'bigint') as epoch_ok,
               :"schema"._is_castable(s.o ->> 'delay', 'interval') as delay_ok
        from entries s)
    select t.place || f.field, f.problem
    from tried t cross join lateral (values
        ('', 'must be a work id, a message id, or an object with work_id or message_id', not t.is_one),
        (case when t.is_text then '' else '.message_id' end, :"schema"._malformed('message_id'), not t.message_ok),
        ('.message_id', 'cannot go together with work_id', t.o ->> 'message_id' is not null and t.o ->> 'work_id' is not null),
        ('.work_id', 'is missing or malformed: give a whole number from 1 to 9223372036854775807', t.is_one and (t.o ->> 'work_id' is null and t.o ->> 'message_id' is null or not t.id_ok)),
        ('.work_id', 'is out of range: work ids begin at 1',
            case when t.id_ok then (t.o ->> 'work_id')::bigint < 1 end),
        ('.epoch', :"schema"._malformed('epoch'), not t.epoch_ok),
        ('.epoch', 'is out of range: give that of the claim, or 0 for any',
            case when t.epoch_ok then (t.o ->> 'epoch')::bigint < 0 end),
        ('.delay', :"schema"._malformed('delay'), not t.delay_ok),
        ('.delay', 'is out of range: give 0 to :delay_days_max days',
            case when t.delay_ok then (t.o ->> 'delay')::interval < interval '0'
                                      or (t.o ->> 'delay')::interval > interval ':delay_days_max days' end),
        ('.stages', 'is missing or has unknown flags: give a sum of 1, 2, 4, 8 and 16',
            t.is_one and 'stages' = any (names) and (_settlement_faults.place like '%.stages' or t.o ->> 'stages' is not null)
            and coalesce(t.o ->> 'stages', '') !~ '^([1-9]|[12][0-9]|3[01])$'),
        ('.error', 'must be a text', jsonb_typeof(t.o -> 'error') not in ('string', 'null')))
        f(field, problem, is_wrong)
    where f.is_wrong
    union all
    select format('%s.%s', t.place, k), 'is not a known name here'
    from tried t, jsonb_object_keys(t.o) k where k <> all (array['work_id', 'message_id', 'epoch'] || names);
end $$;
