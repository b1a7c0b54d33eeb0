-- The work ids that a part of a batch settles, apart from those that it defers; the latter (defers); and in how many
-- lists they are.
create or replace function :"schema"._settled_ids(part jsonb, out ids bigint[], out defers bigint[], out lists int)
language plpgsql immutable :pinned as $$
begin
    select coalesce(array_agg(s.id) filter (where s.list <> 'defers'), '{}'),
           coalesce(array_agg(s.id) filter (where s.list = 'defers'), '{}'), count(distinct s.list)
    into ids, defers, lists
    from (select l as list, case jsonb_typeof(e.o) when 'object' then (e.o ->> 'work_id')::bigint
                                 else (e.o #>> '{}')::bigint end as id
          from unnest(array['acks', 'abandons', 'defers', 'fails']) l, jsonb_array_elements(part -> l) e(o)) s;
end $$;
