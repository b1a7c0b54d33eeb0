-- Replays (or purges) at most max_messages of the dead letters a filter chooses; returns how many.
create or replace function :"schema"._dead_act(
    p_box smallint, p_topic text, prefix boolean, p_reason smallint, before timestamptz, work_ids bigint[],
    message_ids uuid[], max_messages int, replay boolean, note text)
returns bigint language plpgsql volatile security definer :pinned as $$
declare
    ids bigint[] := :"schema"._dead_ids(p_box, p_topic, prefix, p_reason, before, work_ids, message_ids, null,
                                        max_messages);
begin
    if replay then
        return :"schema"._dead_replay(p_box, ids, note);
    end if;
    return :"schema"._dead_purge(p_box, ids);
end $$;
