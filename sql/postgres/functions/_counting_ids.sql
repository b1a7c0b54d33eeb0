-- The work ids in a part of a batch that may count in joins, and in how many lists they are.
create or replace function :"schema"._counting_ids(part jsonb, out ids bigint[], out lists int)
language plpgsql immutable :pinned as $$
begin
    select coalesce(array_agg(case jsonb_typeof(e.o) when 'object' then (e.o ->> 'work_id')::bigint
                                   else (e.o #>> '{}')::bigint end), '{}'),
           count(distinct l)
    into ids, lists
    from unnest(array['acks', 'abandons', 'fails']) l, jsonb_array_elements(part -> l) e(o);
end $$;
