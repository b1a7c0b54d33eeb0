-- Replays (or purges) at most max_messages of the dead letters that a filter chooses, newest first below p_after. Says
-- how many it affected, and the oldest that it chose (null = none left). counted_steps: how many of those replayed are
-- steps that joins have counted already. ended: joins that ended, because a purge counts a message that was not counted
-- before.
create or replace function :"schema"._dead_act(
    p_box smallint, p_topic text, prefix boolean, p_reason smallint, before timestamptz, work_ids bigint[],
    message_ids uuid[], p_after bigint, max_messages int, replay boolean, note text,
    out affected bigint, out oldest bigint, out counted_steps bigint,
    out ended uuid[])
language plpgsql volatile security definer :pinned as $$
declare
    ids bigint[] := :"schema"._dead_ids(p_box, p_topic, prefix, p_reason, before, work_ids, message_ids, p_after,
                                        max_messages);
begin
    oldest := (select min(i) from unnest(ids) i);
    affected := case when replay then :"schema"._dead_replay(p_box, ids, note, num_nonnulls(work_ids, message_ids) > 0)
                     else :"schema"._dead_purge(p_box, ids) end;
    counted_steps := case when replay and p_box < 2 then (
        select count(*) from unnest(ids) i
        where exists (select from :"schema".join_member m where m.work_id = i and not m.in_span and m.status <> 0)
           or exists (select from :"schema"._steps(int8multirange(int8range(i, i, '[]'))) s
                      where (select o.last_id >= i from :"schema".join_outcome o
                             where o.join_id = s.join_id and o.first_id <= i
                             order by o.first_id desc limit 1))) else 0 end;
    ended := array(select e.join_id from :"schema"._joins_ended() e);
end $$;
