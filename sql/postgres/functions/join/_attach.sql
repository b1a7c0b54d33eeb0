-- Attaches messages to a join; a result each, in order. A message may have ended already, or a transaction that does
-- not see the new member may end it now: _settle_joins finds such members. The messages are locked against being purged
-- meanwhile.
create or replace function :"schema"._attach(p_join uuid, p_messages uuid[])
returns setof :"schema".join_attach_result language plpgsql volatile security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
    is_open boolean;
begin
    perform :"schema"._check_join(p_join, 'message_ids', p_messages);
    is_open := :"schema"._open_joins(array[p_join]) <> '{}';
    if not is_open then
        if exists (select from unnest(p_messages) i where not exists (
                       select from :"schema".join_member m where m.join_id = p_join and m.message_id = i)) then
            perform :"schema"._join_ended(p_join);
        end if;
    else
        perform setval(':"schema".awaited_flag', 1)
        from unnest(p_messages) i
        where pg_sequence_last_value(':"schema".awaited_flag') is null
          and not exists (select from :"schema".message x where x.message_id = i) limit 1;
        if pg_sequence_last_value(':"schema".member_flag') is null then   -- before any transaction can see a member
            perform setval(':"schema".member_flag', 1);
        end if;
        insert into :"schema".join_member (join_id, message_id, work_id, created_at, check_at)
        select p_join, i.id, x.work_id, ts, ts
        from (select distinct i from unnest(p_messages) i order by i) i(id)
        left join lateral (
            select x.work_id from :"schema".message x where x.message_id = i.id limit 1 for key share) x on true
        on conflict (join_id, message_id) do nothing;
    end if;
    return query   -- new is a member that was attached at this very microsecond
        select m.created_at = ts and i.repetition = 1, m.work_id is not null
        from (select u.id, u.n, row_number() over (partition by u.id order by u.n) as repetition
              from unnest(p_messages) with ordinality u(id, n)) i
        cross join lateral (
            select m.created_at, m.work_id from :"schema".join_member m
            where m.join_id = p_join and m.message_id = i.id limit 1) m
        order by i.n;
end $$;
