-- A list of settlements as arrays that go together by position. Everything has been checked.
create or replace function :"schema"._batch_entries(
    list jsonb, out ids bigint[], out epochs bigint[], out delays bigint[], out errors text[],
    out stages int[])
language plpgsql immutable :pinned as $$
begin
    select coalesce(array_agg((s.o ->> 'work_id')::bigint order by s.n), '{}'),
           array_agg(coalesce((s.o ->> 'epoch')::bigint, 0) order by s.n),
           array_agg((extract(epoch from (s.o ->> 'delay')::interval) * 1000)::bigint order by s.n),
           array_agg(s.o ->> 'error' order by s.n),
           array_agg((s.o ->> 'stages')::int order by s.n)
    into ids, epochs, delays, errors, stages
    from (select case jsonb_typeof(e.o) when 'object' then e.o else jsonb_build_object('work_id', e.o) end as o, e.n
          from jsonb_array_elements(list) with ordinality e(o, n)) s;
end $$;
