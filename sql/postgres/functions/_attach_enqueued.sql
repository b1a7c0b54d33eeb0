-- Attaches messages that this call has enqueued to their joins: arrays that go together by position,
-- null where there is no join. Nobody can have ended them, unless they were there before.
create or replace function :"schema"._attach_enqueued(
    p_joins uuid[], p_messages uuid[], p_work_ids bigint[], p_there_before boolean[], ts timestamptz)
returns void language plpgsql volatile :hot as $$
#variable_conflict use_column
declare
    wanted uuid[] := array(select distinct j from unnest(p_joins) j where j is not null order by j);
    open_ones uuid[] := :"schema"._open_joins(wanted);
    too_late uuid;
begin
    if not wanted <@ open_ones then
        select i.join_id into too_late from unnest(p_joins, p_messages) i(join_id, message_id)
        where i.join_id <> all (open_ones) and not exists (
            select from :"schema".join_member m where m.join_id = i.join_id and m.message_id = i.message_id)
        limit 1;
        if found then
            perform :"schema"._join_ended(too_late);
        end if;
    end if;
    insert into :"schema".join_member (join_id, message_id, work_id, created_at, check_at)
    select i.join_id, i.message_id, i.work_id, ts, case when i.there_before then ts end
    from unnest(p_joins, p_messages, p_work_ids, p_there_before) i(join_id, message_id, work_id, there_before)
    where i.join_id = any (open_ones)
    order by i.join_id, i.message_id
    on conflict (join_id, message_id) do nothing;
end $$;
