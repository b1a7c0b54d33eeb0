-- Attaches messages that this call has enqueued to their joins: arrays that go together by position, null where there
-- is no join. A message can have ended only if it was there before. Large numbers of neighbours are remembered as
-- spans.
create or replace function :"schema"._attach_enqueued(
    p_joins uuid[], p_messages uuid[], p_work_ids bigint[], p_there_before boolean[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    wanted uuid[] := array(select distinct j from unnest(p_joins) j where j is not null order by j);
    open_ones uuid[] := :"schema"._open_joins(wanted);
    too_late uuid;
begin
    if pg_sequence_last_value(':"schema".reader_number') is not null then
        perform :"schema"._refuse_steps(array(
            select i.work_id from unnest(p_joins, p_work_ids) i(join_id, work_id) where i.join_id is not null));
    end if;
    if not wanted <@ open_ones then
        select i.join_id into too_late from unnest(p_joins, p_messages) i(join_id, message_id)
        where i.join_id <> all (open_ones) and not exists (
            select from :"schema".join_member m where m.join_id = i.join_id and m.message_id = i.message_id)
        limit 1;
        if found then
            perform :"schema"._join_ended(too_late);
        end if;
    end if;
    if pg_sequence_last_value(':"schema".member_flag') is null then   -- before any transaction can see a member
        perform setval(':"schema".member_flag', 1);
    end if;
    with new_members as (
        select i.*, i.work_id - row_number() over (
                   partition by i.join_id, i.there_before order by i.work_id) as run
        from unnest(p_joins, p_messages, p_work_ids, p_there_before) i(join_id, message_id, work_id, there_before)
        where i.join_id = any (open_ones)),
    attached as (
        insert into :"schema".join_member as m (join_id, message_id, work_id, created_at, check_at, in_span)
        select s.join_id, s.message_id, s.work_id, ts, case when s.there_before then ts end,
               not s.there_before and count(*) over (partition by s.join_id, s.there_before, s.run) >= 64
        from new_members s order by s.join_id, s.message_id
        on conflict (join_id, message_id) do nothing
        returning m.join_id, m.work_id, m.in_span)
    insert into :"schema".join_span (join_id, first_id, last_id)
    select r.join_id, min(r.work_id), max(r.work_id)
    from (select a.join_id, a.work_id, row_number() over (partition by a.join_id order by a.work_id) as n
          from attached a where a.in_span) r
    group by r.join_id, r.work_id - r.n, (r.n - 1) / 1000;
end $$;
