-- Settles the lists of a batch for one box, a statement for each list, in the order that every batch has. Stages that
-- come with a result are recorded first, too. Everything has been checked. Returns the work ids that each list affected:
-- every list that was sent gets an answer, even if the owner held none of its messages.
create or replace function :"schema"._settle_part(p_box smallint, p_owner uuid, part jsonb) returns jsonb
language plpgsql volatile :hot as $$
declare
    answer jsonb := '{}'::jsonb;
    kind text;
    given jsonb;
    list record;   -- arrays that go together by position
    affected bigint[];
begin
    foreach kind in array '{stages,acks,abandons,defers,fails,renews}'::text[] loop
        given := part -> kind;
        if kind = 'stages' and jsonb_path_exists(part, 'strict $.*[*].stages', silent => true) is not false then   -- null: maybe
            given := (
                select jsonb_agg(e.o) from unnest('{stages,acks,abandons,defers,fails}'::text[]) l
                cross join lateral jsonb_array_elements(part -> l) e(o) where e.o ->> 'stages' is not null);
        end if;
        continue when coalesce(jsonb_array_length(given), 0) = 0;
        select array_agg((s.o ->> 'work_id')::bigint order by s.n) as ids,
               array_agg(coalesce((s.o ->> 'epoch')::bigint, 0) order by s.n) as epochs,
               array_agg((extract(epoch from (s.o ->> 'delay')::interval) * 1000)::bigint order by s.n) as delays,
               array_agg(s.o ->> 'error' order by s.n) as errors, array_agg((s.o ->> 'stages')::int order by s.n) as stages
        into list
        from (select case jsonb_typeof(e.o) when 'object' then e.o else jsonb_build_object('work_id', e.o) end as o, e.n
              from jsonb_array_elements(given) with ordinality e(o, n)) s;
        affected := case kind
            when 'stages' then :"schema"._record_stages(p_box, p_owner, list.ids, list.epochs, list.stages)
            when 'acks' then :"schema"._ack(p_box, p_owner, list.ids, list.epochs)
            when 'abandons' then :"schema"._abandon(p_box, p_owner, list.ids, list.epochs, list.delays, list.errors)
            when 'defers' then :"schema"._defer(p_box, p_owner, list.ids, list.epochs, list.delays)
            when 'fails' then :"schema"._fail(p_box, p_owner, list.ids, list.epochs, list.errors, 1::smallint)
            else :"schema"._renew(p_box, p_owner, list.ids, list.epochs,
                                  coalesce((part ->> 'lease')::interval, interval '30 seconds')) end;
        if kind = 'stages' then
            affected := array(
                select i from unnest(affected) i
                where i in (select (e.o ->> 'work_id')::bigint from jsonb_array_elements(part -> 'stages') e(o)));
        end if;
        answer := answer || jsonb_build_object(kind, affected);
    end loop;
    return (select coalesce(jsonb_object_agg(k, coalesce(nullif(answer -> k, 'null'), '[]')), '{}')
            from jsonb_object_keys(part) k where k in ('stages', 'acks', 'abandons', 'defers', 'fails', 'renews'));
end $$;
