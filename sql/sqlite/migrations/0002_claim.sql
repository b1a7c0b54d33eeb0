-- Claims: how far they have come in the log, what they lease, and which messages are kept apart from the log.

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
-- partition: of the message's stream. Null: it has no stream. -1: a program of schema version 7 parked it; anybody's.
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
    last_error text,
    partition integer
);
-- In order of arrival, and with the partition, so that a claim tells its own streams from others' without reading the rows.
create index boxcar_parked_available on boxcar_parked (box, state, available_at, work_id, partition)
    where state <> 2 and state <> 3;
create index boxcar_parked_topic on boxcar_parked (box, state, topic, available_at, work_id, partition)
    where state <> 2 and state <> 3;
create index boxcar_parked_stream on boxcar_parked (box, stream, state, work_id) where stream is not null;
create index boxcar_parked_expiry on boxcar_parked (expires_at) where expires_at is not null and state < 3;
