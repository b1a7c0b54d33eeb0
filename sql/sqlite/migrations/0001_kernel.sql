-- The log, the frontier, leases, the parking lot, and what is left of messages that ended.
--
-- One writer at a time makes the order of commits the order of numbers, so the frontier is one
-- number for each box. Times are microseconds since 1970 UTC; ids of 16 bytes are blobs.

create table boxcar_schema (
    only_row integer primary key check (only_row = 1),
    version integer not null,
    oldest_program integer not null -- the oldest program, by its schema version, that may use this store
);

-- The log: one row a message, written once. Lane 0 is the straight path: fresh while its number is
-- beyond the frontier of its box. Lane 1 was set aside when it was enqueued (due later, streamed,
-- expiring) or cancelled before a claim reached it; claims pass over it in the log.
-- The payload comes last, so that reading the other columns never touches its overflow pages.
create table boxcar_message (
    work_id integer primary key,
    message_id blob not null unique,
    box integer not null,
    lane integer not null,
    topic text not null,
    stream text,
    correlation_id text,
    headers text,
    created_at integer not null,
    due_at integer,
    expires_at integer,
    max_attempts integer,
    payload text not null
);

-- Work ids are never used twice: the next one follows the newest message or the highest that was
-- removed. Autoincrement promises the same, but writes one more page with every enqueue.
create table boxcar_removed (
    only_row integer primary key check (only_row = 1),
    highest_id integer not null
);
insert into boxcar_removed (only_row, highest_id) values (1, 0);

-- How far the claims of each box have come in the log, and whose turn it is.
create table boxcar_frontier (
    box integer primary key,
    position integer not null default 0,
    epoch integer not null default 0,
    turn integer not null default 0,        -- alternates parked and fresh where only one fits
    suspect_last integer not null default 0 -- the last claim handed out a suspect
);
insert into boxcar_frontier (box) values (0), (1);

-- One row a leased message. `parked`: it has a row in boxcar_parked as well.
create table boxcar_lease (
    work_id integer primary key,
    epoch integer not null,
    owner blob not null,
    until integer not null,
    box integer not null,
    parked integer not null,
    topic text not null
);
create index boxcar_lease_until on boxcar_lease (until);

-- Messages that left the straight path. State 0 open, 1 open and suspect (a lease expired on it),
-- 2 behind another one of its stream, 3 leased. Only open ones are in the availability indexes.
create table boxcar_parked (
    work_id integer primary key,
    box integer not null,
    state integer not null,
    topic text not null,
    stream text,
    available_at integer not null,
    expires_at integer,
    retry_count integer not null,
    crash_count integer not null,
    last_error text
);
create index boxcar_parked_available on boxcar_parked (box, state, available_at) where state <> 2 and state <> 3;
create index boxcar_parked_topic on boxcar_parked (box, state, topic, available_at) where state <> 2 and state <> 3;
create index boxcar_parked_stream on boxcar_parked (box, stream, state, work_id) where stream is not null;
create index boxcar_parked_expiry on boxcar_parked (expires_at) where expires_at is not null and state < 3;

-- Dead letters.
create table boxcar_dead (
    work_id integer primary key,
    box integer not null,
    topic text not null,
    reason integer not null,
    died_at integer not null,
    retry_count integer not null,
    crash_count integer not null,
    last_error text
);
create index boxcar_dead_topic on boxcar_dead (box, topic);
create index boxcar_dead_died on boxcar_dead (died_at);

-- What was done: a row for each run of neighbouring numbers that one call acked. Runs never overlap.
create table boxcar_finished (
    first_id integer primary key,
    last_id integer not null,
    owner blob not null,
    at integer not null
);
create index boxcar_finished_at on boxcar_finished (at);

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

-- Counters, kept in the transaction of every change, so that nobody ever counts a big table.
create table boxcar_tally (
    box integer not null,
    topic text not null,
    fresh integer not null default 0,
    parked integer not null default 0, -- open, due or not
    behind integer not null default 0,
    leased integer not null default 0,
    done integer not null default 0,
    dead integer not null default 0,
    primary key (box, topic)
) without rowid;

-- Settings that differ from their defaults; durations in milliseconds.
create table boxcar_setting (
    name text primary key,
    number real not null
) without rowid;
