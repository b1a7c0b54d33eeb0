-- Streams: several messages at a time, policies on death, partitions. Programs of older versions go on beside it:
-- what they call hands out and halts alike.

-- topic: of its head, as a claimer saw it and nothing has changed since; null: to be looked at by any claimer.
-- partition: null in rows from before; they
-- are anybody's. halted_by: the dead letter for which the stream stands still; such a stream is never available.
alter table :"schema".stream
    add column topic text collate "C", add column partition int,
    add column halted_at timestamptz, add column halted_by bigint;
update :"schema".stream s set topic = (
    select p.topic from :"schema".parked p where p.box = s.box and p.stream = s.key order by p.work_id limit 1);
create index stream_topic on :"schema".stream (box, topic, available_at) where available_at is not null and not suspect;
create index stream_halted on :"schema".stream (box, key) where halted_at is not null;

-- What happens to streams when a message of theirs dies, where the setting stream_policy is not to decide. A pattern
-- is a key, or ends in * and stands for all that begin so.
create table :"schema".stream_rule (
    pattern text collate "C" primary key,
    halts boolean not null);

-- Evidence of messages that were acked before an earlier one of their stream, which had been handed out, was finished.
create table :"schema".stream_violation (
    at timestamptz not null,
    box smallint not null,
    stream text not null,
    work_id bigint not null,
    earlier_id bigint not null);

-- These have other parameters now.
drop function if exists :"schema"._streams_go_on(smallint, bigint[], timestamptz);
drop function if exists :"schema"._claim_heads(
    smallint, bigint, int, boolean, timestamptz, timestamptz, text[], text[]);
drop function if exists :"schema"._claim_side(
    smallint, bigint, int, boolean, boolean, timestamptz, timestamptz, text[], text[]);
drop function if exists :"schema"._claim_suspect(
    smallint, bigint, timestamptz, timestamptz, text[], text[], boolean);
drop function if exists :"schema"._checkup(smallint, interval, interval, int);
