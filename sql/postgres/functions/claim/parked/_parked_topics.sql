-- The topics among the parked messages that a claimer wants. Exact ones are taken as they are. Those with a prefix are
-- found by hopping through the index from one topic to the next.
create or replace function :"schema"._parked_topics(p_box smallint, exact text[], prefixes text[])
returns text[] language plpgsql stable :hot as $$
begin
    return array(
        select e from unnest(exact) e
        union
        select t.topic from unnest(prefixes) pre, lateral (
            with recursive hop(topic) as (
                (select p.topic from :"schema".parked p
                 where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                   and p.topic >= pre collate "C"
                 order by p.topic limit 1)
                union all
                select (select p.topic from :"schema".parked p
                        where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                          and p.topic > h.topic
                        order by p.topic limit 1)
                from hop h where h.topic is not null and starts_with(h.topic, pre))
            select h.topic from hop h where starts_with(h.topic, pre)) t);
end $$;
