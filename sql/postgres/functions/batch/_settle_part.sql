-- Settles the lists of a batch for one box, a statement for each list, in the order that every batch has. Stages that
-- come with a result are recorded first, too. Returns the work ids that each list affected.
create or replace function :"schema"._settle_part(p_box smallint, p_owner uuid, part jsonb) returns jsonb
language plpgsql volatile :hot as $$
declare
    answer jsonb := '{}'::jsonb;
    list record;
    stages constant jsonb := :"schema"._stage_entries(part);
begin
    if jsonb_array_length(stages) > 0 then
        select * into list from :"schema"._batch_entries(stages);
        list.ids := :"schema"._record_stages(p_box, p_owner, list.ids, list.epochs, list.stages);
        answer := answer || jsonb_build_object('stages', case when part ? 'stages' then array(
            select i from unnest(list.ids) i
            where i in (select (e.o ->> 'work_id')::bigint from jsonb_array_elements(part -> 'stages') e(o))) end);
    end if;
    if jsonb_array_length(part -> 'acks') > 0 then
        select * into list from :"schema"._batch_entries(part -> 'acks');
        answer := answer || jsonb_build_object('acks', :"schema"._ack(p_box, p_owner, list.ids, list.epochs));
    end if;
    if jsonb_array_length(part -> 'abandons') > 0 then
        select * into list from :"schema"._batch_entries(part -> 'abandons');
        answer := answer || jsonb_build_object('abandons',
            :"schema"._abandon(p_box, p_owner, list.ids, list.epochs, list.delays, list.errors));
    end if;
    if jsonb_array_length(part -> 'defers') > 0 then
        select * into list from :"schema"._batch_entries(part -> 'defers');
        answer := answer || jsonb_build_object('defers',
            :"schema"._defer(p_box, p_owner, list.ids, list.epochs, list.delays));
    end if;
    if jsonb_array_length(part -> 'fails') > 0 then
        select * into list from :"schema"._batch_entries(part -> 'fails');
        answer := answer || jsonb_build_object('fails',
            :"schema"._fail(p_box, p_owner, list.ids, list.epochs, list.errors, 1::smallint));
    end if;
    if jsonb_array_length(part -> 'renews') > 0 then
        select * into list from :"schema"._batch_entries(part -> 'renews');
        answer := answer || jsonb_build_object('renews',
            :"schema"._renew(p_box, p_owner, list.ids, list.epochs,
                             coalesce((part ->> 'lease')::interval, interval '30 seconds')));
    end if;
    -- Every list that was sent gets an answer, even if the owner held none of its messages.
    return (select coalesce(jsonb_object_agg(k, coalesce(nullif(answer -> k, 'null'), '[]')), '{}')
            from jsonb_object_keys(part) k where k in ('stages', 'acks', 'abandons', 'defers', 'fails', 'renews'));
end $$;
