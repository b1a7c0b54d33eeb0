-- One page of messages, newest first below p_after, without payloads. Each status has a table that leads to it. Fresh
-- messages are looked for among the newest of the log before all of them are sorted. Besides the statuses there are
-- claimable and waiting: the two kinds of ready messages that _stats counts.
create or replace function :"schema"._page(
    p_box smallint, p_status text, p_topic text, prefix boolean, p_after bigint, max_messages int)
returns setof :"schema"._item language plpgsql stable security definer :pinned as $$
declare
    below bigint := coalesce(p_after, 9223372036854775807);
    newest bigint;
    ids bigint[];
    ts timestamptz := clock_timestamp();
    streamed constant :"schema".frontier := :"schema"._newest_frontier(p_box, 1::smallint);
    low bigint;   -- for streams that no claimer has met
begin
    perform :"schema"._check_most('max_messages', max_messages);
    if p_status is null then
        ids := array(
            select m.work_id from :"schema".message m
            where m.box = streamed.log_box and m.work_id < below
              and (p_topic is null or m.topic = p_topic or (prefix and starts_with(m.topic, p_topic)))
              and (p_box < 2 and not streamed.choosy
                   or exists (select from :"schema"._item i where i.work_id = m.work_id and i.reader = p_box))
            order by m.work_id desc limit max_messages);
    elsif p_status = 'failed' then
        ids := :"schema"._dead_ids(p_box, p_topic, prefix, null, null, null, null, p_after, max_messages);
    elsif p_status = 'in_progress' then
        ids := array(
            select m.work_id from :"schema".lease l, :"schema"._ids(l.items) i
            join :"schema".message m on m.work_id = i
            where l.box = p_box and i < below
              and (p_topic is null or m.topic = p_topic or (prefix and starts_with(m.topic, p_topic)))
            order by m.work_id desc limit max_messages);
    elsif p_status = 'done' then
        -- Nothing newer than the last run is done, however much waits there.
        below := least(below, (select f.last_id + 1 from :"schema".finished f where f.box = p_box order by f.first_id desc limit 1));
        ids := array(
            select m.work_id from :"schema".message m
            where m.box = streamed.log_box and m.work_id < below
              and (p_topic is null or m.topic = p_topic or (prefix and starts_with(m.topic, p_topic)))
              and exists (select from :"schema"._finished(p_box, m.work_id) f where f.at > '-infinity')
            order by m.work_id desc limit max_messages);
    else
        if p_status <> 'ready' then
            low := :"schema"._unmet_from(streamed);
        end if;
        select max(m.work_id) into newest from :"schema".message m where m.work_id < below;
        foreach newest in array array[newest - 20000, 0] loop
            ids := array(
                select x.work_id from (
                    (select p.work_id from :"schema".parked p
                     where p.box = p_box and p.epoch is null and p.work_id < below
                       and (p_topic is null or p.topic = p_topic or (prefix and starts_with(p.topic, p_topic)))
                       and (p_status = 'ready' or (p_status = 'claimable') = (
                               p.available_at <= ts and coalesce(p.expires_at > ts, true)
                               and (p.stream is null or not :"schema"._is_held_back(p_box, p.stream, p.work_id))))
                     order by p.work_id desc limit max_messages)
                    union all
                    (select m.work_id from :"schema"._fresh m
                     where m.reader = p_box and m.work_id < below and m.work_id > newest
                       and (p_topic is null or m.topic = p_topic or (prefix and starts_with(m.topic, p_topic)))
                       and (p_status = 'ready' or (p_status = 'claimable') = (
                               coalesce(m.due_at <= ts, true) and coalesce(m.expires_at > ts, true)
                               and (m.stream is null
                                    or (exists (select from :"schema".stream s where s.box = p_box and s.key = m.stream)
                                        or exists (select from :"schema"._unmet_head(streamed, low, m.stream) h where h.work_id = m.work_id))
                                    and not :"schema"._is_held_back(p_box, m.stream, m.work_id))))
                     order by m.work_id desc limit max_messages)) x
                order by x.work_id desc limit max_messages);
            exit when cardinality(ids) >= max_messages and ids[max_messages] > newest;
        end loop;
    end if;
    return query select * from :"schema"._read_items(p_box, ids, false);
end $$;
