-- The topics that heads of available streams have and a claimer wants. Exact ones are taken as they are. Those with a
-- prefix are found by hopping through the index from one topic to the next.
create or replace function :"schema"._stream_topics(p_box smallint, exact text[], prefixes text[])
returns text[] language plpgsql stable :hot as $$
begin
    return array(
        select e from unnest(exact) e
        union
        select t.topic from unnest(prefixes) pre, lateral (
            with recursive hop(topic) as (
                (select s.topic from :"schema".stream s
                 where s.box = p_box and s.available_at is not null and not s.suspect and s.topic >= pre collate "C"
                 order by s.topic limit 1)
                union all
                select (select s.topic from :"schema".stream s
                        where s.box = p_box and s.available_at is not null and not s.suspect and s.topic > h.topic
                        order by s.topic limit 1)
                from hop h where h.topic is not null and starts_with(h.topic, pre))
            select h.topic from hop h where starts_with(h.topic, pre)) t);
end $$;
