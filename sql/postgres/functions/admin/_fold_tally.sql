-- Folds counters of done messages into one row per topic, at most max_rows of them. Returns how
-- many rows it folded.
create or replace function :"schema"._fold_tally(p_box smallint, max_rows int) returns bigint
language plpgsql volatile :pinned as $$
declare
    folded bigint;
begin
    with batch as materialized (
        select d.ctid as row from :"schema".tally_delta d where d.box = p_box limit max_rows
        for update skip locked),
    gone as materialized (
        delete from :"schema".tally_delta d using batch b where d.ctid = b.row returning d.first_id, d.last_id),
    counted as (
        select m.topic, count(*) as done
        from gone g join :"schema".message m on m.work_id between g.first_id and g.last_id
        where char_length(m.topic) <= :topic_max   -- there may be longer ones from before the table checked, too long for the index
        group by m.topic),
    added as (
        insert into :"schema".tally as t (box, topic, done)
        select p_box, c.topic, c.done from counted c order by c.topic
        on conflict (box, topic) do update set done = t.done + excluded.done)
    select count(*) into folded from gone;
    return folded;
end $$;
