-- The topics that have parked messages that are due, and how long the oldest of each has waited. This hops through the
-- index from one topic to the next, so a topic with a million messages costs no more than a topic with one, and hides
-- no other (_stats counts a sample).
create or replace function :"schema"._ready_topics(p_box smallint, max_topics int)
returns table (topic text, seconds double precision) language plpgsql stable security definer :hot as $$
#variable_conflict use_column
declare
    ts timestamptz := clock_timestamp();
begin
    perform :"schema"._check_most('max_topics', max_topics);
    return query
    with recursive hop(topic, nth) as (
        (select p.topic, 1 from :"schema".parked p
         where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
         order by p.topic limit 1)
        union all
        select (select p.topic from :"schema".parked p
                where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                  and p.topic > h.topic
                order by p.topic limit 1), h.nth + 1
        from hop h where h.topic is not null and h.nth < max_topics)
    select h.topic::text, extract(epoch from ts - o.since)::double precision
    from hop h
    cross join lateral (
        select min(case when :"schema"._is_untried(p) then :"schema"._waits_since(p_box, p.work_id) else p.available_at end) as since
        from (select p.* from :"schema".parked p
              where p.box = p_box and p.epoch is null and p.stream is null and p.crash_count = 0
                and p.topic = h.topic and p.available_at <= ts
              order by p.available_at limit 3) p) o
    where h.topic is not null and o.since is not null;
end $$;
