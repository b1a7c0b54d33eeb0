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
        where char_length(i.stream) <= 255   -- longer ones are from before the table checked, and buried (_bury_malformed)
        order by i.stream, i.id),
    met as materialized (
        select n.key, n.topic, s.key as known, s.available_at, s.topic as known_topic from first n left join lateral (
            select s.key, s.available_at, s.topic from :"schema".stream s
            where s.box = p_box and s.key = n.key limit 1) s on true),
    added as (
        insert into :"schema".stream (box, key, available_at, topic, partition)
        select p_box, m.key, ts, m.topic, :"schema"._partition(m.key, partitions) from met m where m.known is null)
    -- A stream that waits for a head's time: an earlier message may have come. One whose head is said to have another topic.
    select array_agg(m.key) into changed from met m
    where m.available_at > ts or m.available_at is not null and m.known_topic <> m.topic;
    if changed is not null then
        insert into :"schema".stream_note (box, key)
        select p_box, k from unnest(:"schema"._wake_streams(p_box, changed, ts)) k;
    end if;
end $$;
