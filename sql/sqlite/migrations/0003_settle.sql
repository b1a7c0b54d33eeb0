-- Settling: what is left of messages that ended, and of attempts that did not end them.

-- What was done: a row for each run of neighbouring numbers that one call acked. Runs never overlap.
-- counted: the call has counted the steps of joins by itself, here and in boxcar_dead (0005_join.sql).
create table boxcar_finished (
    first_id integer primary key,
    last_id integer not null,
    owner blob not null,
    at integer not null,
    counted integer not null default 0
);
create index boxcar_finished_at on boxcar_finished (at);

-- Dead letters.
create table boxcar_dead (
    work_id integer primary key,
    box integer not null,
    topic text not null,
    reason integer not null,
    died_at integer not null,
    retry_count integer not null,
    crash_count integer not null,
    last_error text,
    counted integer not null default 0
);
create index boxcar_dead_topic on boxcar_dead (box, topic);
create index boxcar_dead_died on boxcar_dead (died_at);

-- Attempts that ended badly, and replays.
create table boxcar_attempt (
    attempt_id integer primary key,
    work_id integer not null,
    at integer not null,
    retry_count integer not null,
    outcome text not null,
    owner blob,
    epoch integer,
    error text
);
create index boxcar_attempt_work on boxcar_attempt (work_id);

-- Which stages of a message are done: one row for each message that anybody recorded one for, gone with the
-- message. Flags as in boxcar/message.h.
create table boxcar_stage (
    work_id integer primary key,
    flags integer not null
);
