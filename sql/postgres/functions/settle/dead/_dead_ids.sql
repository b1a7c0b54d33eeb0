-- The dead letters that a filter chooses: newest first below p_after, at most max_messages. Conditions that are null do
-- not count. prefix: p_topic is the start of topics.
create or replace function :"schema"._dead_ids(
    p_box smallint, p_topic text, prefix boolean, p_reason smallint, before timestamptz, work_ids bigint[],
    message_ids uuid[], p_after bigint, max_messages int)
returns bigint[] language plpgsql stable :pinned as $$
declare
    named bigint[] := work_ids || array(
        select m.work_id from :"schema".message m where m.message_id = any (message_ids));
begin
    if p_box > 1 then
        perform :"schema"._log_box(p_box);   -- there is such a reader
    end if;
    return array(
        select d.work_id from :"schema".dead d
        where d.box = p_box
          and (p_topic is null or d.topic = p_topic or (prefix and starts_with(d.topic, p_topic)))
          and (p_reason is null or d.reason = p_reason)
          and (before is null or d.died_at < before)
          and ((work_ids is null and message_ids is null) or d.work_id = any (named))
          and (p_after is null or d.work_id < p_after)
        order by d.work_id desc limit max_messages);
end $$;
