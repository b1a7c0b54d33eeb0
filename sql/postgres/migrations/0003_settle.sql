-- Settling: what is left of messages that ended, and of attempts that did not end them.

-- Positive evidence of what was done: one row per run of neighbouring work ids that an ack finished.
-- Runs never overlap, so the one that could hold an id is the last that starts at or before it.
create table :"schema".finished (
    first_id bigint primary key,
    last_id bigint not null,
    box smallint not null,
    epoch bigint not null,
    owner uuid not null,
    at timestamptz not null);
create index finished_at on :"schema".finished (box, at);

-- Dead letters.
create table :"schema".dead (
    work_id bigint primary key,
    box smallint not null,
    reason smallint not null,
    died_at timestamptz not null,
    retry_count int not null,
    crash_count int not null,
    topic text collate "C" not null,
    last_error text);
create index dead_died on :"schema".dead (box, died_at);

-- Every attempt that ended badly, and every replay.
create table :"schema".attempt (
    work_id bigint not null,
    at timestamptz not null,
    retry_count int not null,
    outcome text not null,
    owner uuid,
    epoch bigint,
    error text);
create index attempt_work_id on :"schema".attempt (work_id, at);

-- Which stages of a message are done: one row for each message that anybody recorded one for, gone with the
-- message. Flags as in boxcar/message.h.
create table :"schema".stage (
    work_id bigint primary key,
    flags smallint not null)
    with (fillfactor = 80);

-- The answer of process_work_batch: what became of everything, and the work that it brought.
create type :"schema".work_batch_result as (
    header jsonb,
    outbox_work :"schema".claimed_message[],
    inbox_work :"schema".claimed_message[]);
