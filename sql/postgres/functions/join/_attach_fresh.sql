-- Attaches messages that this call has enqueued under new ids to one join: the usual case of _attach_enqueued. None of
-- them can be attached or have ended before. Large numbers of neighbours are remembered as spans.
create or replace function :"schema"._attach_fresh(p_join uuid, p_messages uuid[], p_work_ids bigint[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    n constant int := cardinality(p_work_ids);
    is_run constant boolean := n >= 64 and p_work_ids[n] - p_work_ids[1] = n - 1;
begin
    if pg_sequence_last_value(':"schema".reader_number') is not null then
        perform :"schema"._refuse_steps(p_work_ids);
    end if;
    perform from :"schema".join_row j
    where j.join_id = p_join and j.status = 0 and coalesce(j.deadline > ts, true) for key share;
    if not found or n >= 64 and not is_run then
        perform :"schema"._attach_enqueued(array_fill(p_join, array[n]), p_messages, p_work_ids,
                                      array_fill(false, array[n]), ts);
        return;
    end if;
    if pg_sequence_last_value(':"schema".member_flag') is null then   -- before any transaction can see a member
        perform setval(':"schema".member_flag', 1);
    end if;
    insert into :"schema".join_member (join_id, message_id, work_id, created_at, in_span)
    select p_join, i.message_id, i.work_id, ts, is_run
    from unnest(p_messages, p_work_ids) i(message_id, work_id);
    if is_run then
        insert into :"schema".join_span (join_id, first_id, last_id)
        select p_join, f, least(f + 999, p_work_ids[n]) from generate_series(p_work_ids[1], p_work_ids[n], 1000) f;
    end if;
end $$;
