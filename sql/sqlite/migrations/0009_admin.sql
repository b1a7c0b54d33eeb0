-- The store itself: what it is, its settings, its counters.

create table boxcar_schema (
    only_row integer primary key check (only_row = 1),
    version integer not null,
    oldest_program integer not null -- the oldest program, by its schema version, that may use this store
);

-- Settings that differ from their defaults; durations in milliseconds. Some are texts; their number is 0.
create table boxcar_setting (
    name text primary key,
    number real not null,
    text text
) without rowid;

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
-- Claims by pattern ask which topics have parked messages; topics of which all is done are many in time.
create index boxcar_tally_parked on boxcar_tally (box, topic) where parked > 0;
