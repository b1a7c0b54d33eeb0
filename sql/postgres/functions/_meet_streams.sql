-- Streams of which messages were sorted in: each has its row afterwards, and is looked at again if what is known of its
-- head may be wrong now. Everything goes together by position. Only under the turn.
create or replace function :"schema"._meet_streams(
    p_box smallint, streams text[], topics text[], ids bigint[], partitions int, ts timestamptz)
returns void language plpgsql volatile :hot as $$
declare
    changed text[];
begin
    with first as (
        select distinct on (i.stream) i.stream as key, i.topic from unnest(streams, topics, ids) i(stream, topic, id)
        order by i.stream, i.id),
    met as materialized (
        select n.key, n.topic, s.key as known, s.available_at, s.topic as known_topic from first n left join lateral (
            select s.key, s.available_at, s.topic from :"schema".stream s
            where s.box = p_box and s.key = n.key limit 1) s on true),
    added as (
        insert into :"schema".stream (box, key, available_at, topic, partition)
        select p_box, m.key, ts, m.topic, :"schema"._partition(m.key, partitions) from met m where m.known is null)
    select array_agg(m.key) into changed from met m
    where m.available_at > ts or m.available_at is not null and m.known_topic <> m.topic;
    if changed is null then
        return;
    end if;
    -- A stream that waits for a head's time is looked at again: an earlier message may have come. So is one
    -- whose head is said to have another topic. One that is locked just now is being settled, and whoever
    -- settles it has it looked at again too.
    changed := array(
        select s.key from unnest(changed) c(key) cross join lateral (
            select s.key, s.available_at from :"schema".stream s where s.box = p_box and s.key = c.key
            limit 1 for update skip locked) s
        where s.available_at is not null);
    update :"schema".stream s set available_at = least(s.available_at, ts), topic = null
    where s.ctid = any (:"schema"._stream_rows(p_box, changed));
end $$;
