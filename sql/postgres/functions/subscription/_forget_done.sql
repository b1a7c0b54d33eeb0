-- A reader's evidence that these messages are done goes, and they are not counted as done any more. Their messages
-- may go as well then.
create or replace function :"schema"._forget_done(p_reader smallint, items int8multirange) returns void
language plpgsql volatile :hot as $$
declare
    done int8multirange;      -- without dead letters that were purged
    unfolded int8multirange;
begin
    with gone as (
        delete from :"schema".finished f
        where f.box = p_reader and f.first_id > lower(items) - :batch_size_max - 1 and f.first_id < upper(items)
          and int8range(f.first_id, f.last_id + 1) && items
        returning f.*),
    kept as (
        insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
        select lower(x), upper(x) - 1, g.box, g.epoch, g.owner, g.at
        from gone g, unnest(int8multirange(int8range(g.first_id, g.last_id + 1)) - items) x)
    select range_agg(x) into done
    from gone g, unnest(int8multirange(int8range(g.first_id, g.last_id + 1)) * items) x where g.at > '-infinity';
    if done is null then
        return;
    end if;
    -- What was not counted yet is taken out of the queue, and not counted down.
    with gone as (
        delete from :"schema".tally_delta d
        where d.box = p_reader and int8range(d.first_id, d.last_id + 1) && done
        returning d.first_id, d.last_id),
    kept as (
        insert into :"schema".tally_delta (first_id, last_id, box)
        select lower(x), upper(x) - 1, p_reader
        from gone g, unnest(int8multirange(int8range(g.first_id, g.last_id + 1)) - done) x)
    select coalesce(range_agg(x), '{}') into unfolded
    from gone g, unnest(int8multirange(int8range(g.first_id, g.last_id + 1)) * done) x;
    insert into :"schema".tally as t (box, topic, done)
    select p_reader, m.topic, -count(*)
    from unnest(done - unfolded) r join :"schema".message m on m.work_id >= lower(r) and m.work_id < upper(r)
    where char_length(m.topic) <= :topic_max group by m.topic order by m.topic
    on conflict (box, topic) do update set done = t.done + excluded.done;
end $$;
