-- Makes a schedule: one message for each shard again and again, with the topic fanout:{topic}:{work key}. The next one of a shard comes
-- when the last one has been done for as long as `every`, and a random part of the jitter. then_topic: slices that are enqueued
-- together are the steps of a join (docs/fanout.md). BX003: there is one with this topic and work key.
create or replace function :"schema".schedule_add(
    topic text, work_key text, every interval, jitter interval default '0', shards int default 1, then_topic text default null,
    else_topic text default null)
returns void language plpgsql volatile security definer :pinned set lock_timeout = '5s' as $$
declare
    ts constant timestamptz := clock_timestamp();
    new_id constant uuid := gen_random_uuid();
    jitter_ms bigint;
begin
    perform :"schema"._fault('', case
        when coalesce(topic, '') = '' then array['topic', 'must have at least one character']
        when topic like '%:%' then array['topic', 'has a colon: use another character']
        when coalesce(work_key, '') = '' then array['work_key', 'must have at least one character']
        when topic ~ '[\x01-\x1f\x7f]' then array['topic', 'has a control character: remove it']
        when work_key ~ '[\x01-\x1f\x7f]' then array['work_key', 'has a control character: remove it']
        when char_length(:"schema"._slice_topic(topic, work_key)) > :topic_max
            then array['work_key', 'is too long: fanout:TOPIC:WORK_KEY has at most :topic_max characters']
        when (every between make_interval(secs => :every_ms_min / 1000.0) and make_interval(days => :every_days_max)) is not true
            then array['every', 'is out of range: give 1 second to :every_days_max days']
        when (jitter between interval '0' and every) is not true then array['jitter', 'is out of range: give 0 to every']
        when (shards between 1 and :shards_max) is not true then array['shards', 'is out of range: give 1 to :shards_max']
        when then_topic = '' or char_length(then_topic) > :topic_max then array['then_topic', 'must have 1 to :topic_max characters, or be null']
        when else_topic = '' or char_length(else_topic) > :topic_max then array['else_topic', 'must have 1 to :topic_max characters, or be null']
        when else_topic is not null and then_topic is null then array['else_topic', 'needs a then_topic']
        when then_topic is not null and :"schema"._is_taken_away(:"schema"._slice_topic(topic, work_key))
            then array['then_topic', 'cannot be given: a subscription takes these messages away from the main reader, which joins follow'] end);
    jitter_ms := (extract(epoch from jitter) * 1000)::bigint;
    insert into :"schema".schedule_row as s (id, topic, work_key, every_ms, jitter_ms, shards, then_topic, else_topic, created_at)
    values (new_id, schedule_add.topic, schedule_add.work_key, (extract(epoch from every) * 1000)::bigint, jitter_ms, schedule_add.shards,
            schedule_add.then_topic, schedule_add.else_topic, ts)
    on conflict do nothing;
    if not found then
        raise exception using errcode = 'BX003',
            message = format('there is a schedule "%s" "%s" already: remove it first, or choose another work key', topic, work_key);
    end if;
    insert into :"schema".schedule_shard (id, shard, due_at)
    select new_id, n, ts + make_interval(secs => random() * jitter_ms / 1000.0) from generate_series(0, shards - 1) n;
end $$;
