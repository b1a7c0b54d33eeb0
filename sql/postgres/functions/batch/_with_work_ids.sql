-- A part of a batch whose settlements all have work ids: those that name a message by its id get the work id of that
-- message in this box. An id that no message has is left out: no owner can hold it. Everything has been checked.
create or replace function :"schema"._with_work_ids(p_box smallint, part jsonb) returns jsonb
language plpgsql stable :hot as $$
declare
    lists constant text[] := array['stages', 'acks', 'abandons', 'defers', 'fails', 'renews'];
begin
    if not exists (
        select from unnest(lists) l cross join lateral jsonb_array_elements(part -> l) e(o)
        where jsonb_typeof(e.o) = 'string' or e.o ->> 'message_id' is not null) then
        return part;
    end if;
    return part || (
        select jsonb_object_agg(l.list, coalesce(l.named, '[]'))
        from (select l as list, jsonb_agg(
                         case when n.id is null then e.o
                              else (case jsonb_typeof(e.o) when 'object' then e.o else '{}' end - 'message_id')
                                   || jsonb_build_object('work_id', m.work_id) end order by e.n)
                     filter (where n.id is null or m.work_id is not null) as named
              from unnest(lists) l cross join lateral jsonb_array_elements(part -> l) with ordinality e(o, n)
              cross join lateral (
                  select (case jsonb_typeof(e.o) when 'string' then e.o #>> '{}' else e.o ->> 'message_id' end)::uuid) n(id)
              left join lateral (
                  select m.work_id, m.box from :"schema".message m where m.message_id = n.id limit 1) m on m.box = p_box
              group by l) l);
end $$;
