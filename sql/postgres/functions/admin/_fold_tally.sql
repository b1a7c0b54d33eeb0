-- Folds counters of done messages into one row per topic, at most max_rows of them. Returns how many rows it folded.
-- Only the upkeep that has its turn (_upkeep_turn) calls it.
--
-- tally_delta has no index, so acks have none to write. It is read in the order of its pages, from the page where the
-- last round ended: rows that were folded may stay on the pages before it, as long as a transaction holds an old
-- snapshot. Rows that are committed on those pages later are found by a look at all pages, at most once a minute and
-- for at most a twentieth of the time. A look may take several rounds. When it has reached the page that was the last
-- one as it began, everything that its snapshot shows has been folded (folded).
create or replace function :"schema"._fold_tally(p_box smallint, max_rows int) returns bigint
language plpgsql volatile :hot as $$
declare
    ts timestamptz := clock_timestamp();
    pages constant bigint := pg_relation_size(':"schema".tally_delta') / current_setting('block_size')::bigint;
    l :"schema".upkeep_look;
    was :"schema".upkeep_look;
    start tid;
    last tid;
    count bigint;
    is_first boolean;   -- of the rounds of a look
begin
    select * into was from :"schema".upkeep_look x where x.box = p_box;
    l := was;
    -- A time far ahead was written before the clock was set back.
    is_first := l.look is null and l.look_at not between ts and ts + interval '10 minutes';
    if is_first then
        l.look_end := pages;
        l.look := pg_current_snapshot();
        l.delta_from := 0;
        l.finished_from := '-infinity';
    elsif l.delta_from >= pages then   -- a vacuum has cut it off since
        l.delta_from := 0;
    end if;
    start := format('(%s,0)', l.delta_from)::tid;
    with batch as materialized (
        select d.ctid as row from :"schema".tally_delta d where d.box = p_box and d.ctid >= start limit max_rows
        for update skip locked),
    gone as materialized (
        delete from :"schema".tally_delta d using batch b where d.ctid = b.row returning b.row, d.first_id, d.last_id),
    counted as (
        select m.topic, count(*) as done
        from gone g join :"schema".message m on m.work_id between g.first_id and g.last_id
        where char_length(m.topic) <= :topic_max   -- there may be longer ones from before the table checked, too long for the index
        group by m.topic),
    added as (
        insert into :"schema".tally as t (box, topic, done)
        select p_box, c.topic, c.done from counted c order by c.topic
        on conflict (box, topic) do update set done = t.done + excluded.done)
    select count(*), max(g.row) into count, last from gone g;
    if last is not null then
        l.delta_from := (last::text::point)[0]::bigint;
    end if;
    if count < max_rows then   -- no more of this box, whatever the other one has there
        l.delta_from := greatest(l.delta_from, pages - 1);
    end if;
    if l.look is not null and (count < max_rows or l.delta_from >= l.look_end) then
        l.folded := l.look;
        l.look := null;
    end if;
    if is_first then
        l.look_at := ts + least(greatest(20 * (clock_timestamp() - ts), interval '1 minute'), interval '10 minutes');
    end if;
    if is_first or count > 0 or was.look is not null or l.delta_from <> was.delta_from then
        update :"schema".upkeep_look x
        set look_at = l.look_at, delta_from = l.delta_from, finished_from = l.finished_from, look = l.look, look_end = l.look_end,
            folded = l.folded
        where x.box = p_box;
    end if;
    return count;
end $$;
