-- Streams: several messages at a time, policies on death, partitions.

-- One row per stream that has unfinished messages. available_at null: its head is leased. Only
-- claimers insert or delete these rows, so nobody else has to wait for one.
-- topic: of its head, as a claimer saw it and nothing has changed since; null: to be looked at by any claimer.
-- partition: null in rows that programs of schema version 7 made; they are anybody's.
-- halted_by: the dead letter for which the stream stands still; such a stream is never available.
create table :"schema".stream (
    box smallint not null,
    key text collate "C" not null,
    available_at timestamptz,
    suspect boolean not null default false,
    topic text collate "C",
    partition int,
    halted_at timestamptz,
    halted_by bigint,
    primary key (box, key))
    with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index stream_due on :"schema".stream (box, suspect, available_at) where available_at is not null;
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

-- Streams whose head may have changed while somebody had their row locked: to be looked at again when it is free, in case
-- he undid what he had done. Written and removed under the turn.
create table :"schema".stream_note (
    box smallint not null,
    key text collate "C" not null);
create index stream_note_box on :"schema".stream_note (box, key);
