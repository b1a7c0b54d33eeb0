-- Streams that a claimer may look at, at most wanted, those that wait longest first. A worker gets the streams of its
-- own partitions first: those of its rank among the workers of its box that handle the same topics and live
-- (instance_timeout). It gets those of another worker only when that one does not seem to come for them: the stream, or the
-- message that heads it, has waited for a while. This reads index ranges that begin at due_from: of the topics that the
-- claimer wants, and of streams whose head no claimer has looked at since it changed. p_except: no streams with a head of
-- this topic.
create or replace function :"schema"._ready_streams(
    p_box smallint, wanted int, p_suspect boolean, due_from timestamptz, ts timestamptz, exact text[],
    prefixes text[], p_owner uuid, p_except text)
returns text[] language plpgsql stable :hot
set enable_sort = off set enable_bitmapscan = off as $$
declare
    partitions constant bigint := :"schema"._setting('partition_count', 10000);
    cap constant int := :"schema"._setting('partitions_per_instance_max', 0);
    is_shared constant boolean := cap > 0;   -- then a partition of another worker may belong to none
    live_from constant timestamptz := ts - make_interval(secs => :"schema"._setting('instance_timeout', 30000) / 1000);
    workers int;
    rank bigint;
    is_known boolean;
    own int4range := '(,)'::int4range;   -- everything
    is_picky boolean := exact is not null or prefixes is not null;
    patience constant interval := interval '1 second';
    candidates text[];
begin
    select count(*), count(*) filter (where r.instance_id < p_owner), bool_or(r.instance_id = p_owner)
    into workers, rank, is_known
    from :"schema".instance_row r
    where r.box = p_box and r.seen_at > live_from and (r.exact, r.prefixes) = (
        select me.exact, me.prefixes from :"schema".instance_row me where me.instance_id = p_owner and me.box = p_box);
    if is_known and (workers > 1 or is_shared) then
        own := int4range((rank * partitions / workers)::int, ((rank + 1) * partitions / workers)::int);
        if is_shared then
            own := own * int4range(lower(own), lower(own) + cap);
        end if;
    else
        workers := 1;
    end if;
    if is_picky and not p_suspect then
        candidates := array(
            select c.key from (
                select c.* from unnest(:"schema"._stream_topics(p_box, exact, prefixes)) t(topic), lateral (
                    select s.key, s.available_at, coalesce(own @> s.partition, true) as is_own
                    from :"schema".stream s
                    where s.box = p_box and s.available_at is not null and not s.suspect
                      and s.topic = t.topic collate "C" and s.available_at >= due_from and s.available_at <= ts
                    order by s.topic, s.available_at limit wanted * workers) c
                where t.topic is distinct from p_except
                union all
                (select s.key, s.available_at, coalesce(own @> s.partition, true)
                 from :"schema".stream s
                 where s.box = p_box and s.available_at is not null and not s.suspect and s.topic is null
                   and s.available_at >= due_from and s.available_at <= ts
                 order by s.topic, s.available_at limit wanted * workers)) c
            where c.is_own or is_shared or c.available_at < ts - patience
               or :"schema"._head_since(p_box, c.key) < ts - patience
            order by not c.is_own, c.available_at limit wanted);
    else
        candidates := array(
            select c.key from (
                select s.key, s.available_at, coalesce(own @> s.partition, true) as is_own
                from :"schema".stream s left join lateral (
                    select p.topic from :"schema".parked p where p.box = p_box and p.stream >= s.key and p.stream <= s.key
                    order by p.stream, p.work_id limit 1) h on is_picky
                where s.box = p_box and s.suspect = p_suspect and s.available_at >= due_from and s.available_at <= ts
                  and (p_except is null or s.topic is distinct from p_except)   -- a head that no claimer looked at has none
                  and (not is_picky or h.topic is null or :"schema"._wanted(h.topic, exact, prefixes))
                order by s.available_at limit wanted * workers) c
            where c.is_own or is_shared or c.available_at < ts - patience
               or :"schema"._head_since(p_box, c.key) < ts - patience
            order by not c.is_own, c.available_at limit wanted);
    end if;
    return candidates;
end $$;
