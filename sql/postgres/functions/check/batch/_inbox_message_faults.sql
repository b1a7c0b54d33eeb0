-- Every fault of an array of messages from outside: the rules of _check_object, for many at once. Faults of keys and
-- names come first, then those that any message may have.
create or replace function :"schema"._inbox_message_faults(messages jsonb, place text)
returns table (argument text, problem text) language plpgsql stable as $$
begin
    return query
    with entries as materialized (
        select format('%s[%s]', place, m.n - 1) as place, m.n, m.o
        from jsonb_array_elements(messages) with ordinality m(o, n)
        where jsonb_typeof(m.o) = 'object')
    select z.argument, z.problem from (
    select s.n, f.nr, s.place || f.field as argument, f.problem
    from entries s cross join lateral (values
        (1, '.source', 'is empty: give 1 to :source_max characters', coalesce(s.o ->> 'source', '') = ''),
        (2, '.source', 'is longer than :source_max characters', char_length(s.o ->> 'source') > :source_max),
        (3, '.id', 'is empty: give 1 to :external_id_max characters', coalesce(s.o ->> 'id', '') = ''),
        (4, '.id', 'is longer than :external_id_max characters', char_length(s.o ->> 'id') > :external_id_max),
        (5, '.content_hash', 'is longer than :content_hash_max characters', char_length(s.o ->> 'content_hash') > :content_hash_max))
        f(nr, field, problem, is_wrong)
    where f.is_wrong
    union all
    select s.n, 98, format('%s.%s', s.place, k), 'must be a text'
    from entries s, jsonb_object_keys(s.o) k
    where k in ('source', 'id', 'content_hash') and jsonb_typeof(s.o -> k) not in ('string', 'null')
    union all
    select s.n, 99, format('%s.%s', s.place, k), 'is not a known name here: the key stands for it'
    from entries s, jsonb_object_keys(s.o) k where k in ('message_id', 'key')
    union all
    select s.n, 99, s.place || '.join_id', 'is not a known name here: attach the message id to the join'
    from entries s where s.o ? 'join_id') z
    order by z.n, z.nr, z.argument;
    return query
    select f.argument, f.problem
    from :"schema"._message_faults(
        (select coalesce(jsonb_agg(case when jsonb_typeof(m.o) = 'object'
                                        then m.o - array['source', 'id', 'content_hash', 'message_id', 'key', 'join_id']
                                        else m.o end order by m.n), '[]')
         from jsonb_array_elements(messages) with ordinality m(o, n)), place) f;
end $$;
