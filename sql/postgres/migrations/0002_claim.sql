-- Claims: how far they have come in the log, what they lease, and which messages are kept apart from the log.

-- How far claimers have come in each lane: what is visible in target but not in base, after
-- position, in the order (xid, work_id), is next. Append-only and trimmed: the newest row counts.
-- The primary key makes a claimer with a stale view fail instead of leasing twice: a row's
-- predecessor is seq - 1, and only one can follow it.
create table :"schema".frontier (
    box smallint not null,
    lane smallint not null,
    seq bigint not null,
    era smallint not null,
    base pg_snapshot not null,
    target pg_snapshot not null,
    position_xid xid8 not null,
    position_id bigint not null,
    epoch bigint not null,              -- the last one given out
    skip int8multirange not null,       -- still fresh by position, but buried already
    suspects_next boolean not null,     -- whose turn it is, suspects' or the others'
    lease_from timestamptz not null,    -- no live lease ends before this
    due_from timestamptz not null,      -- nothing parked and available lies before this
    expiring_from timestamptz not null, -- nothing parked expired before this
    expired_from timestamptz not null,  -- no fresh message expired before this
    look_at timestamptz not null,       -- when to look without those bounds again
    primary key (box, lane, seq))
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
insert into :"schema".frontier
select b, l, 0, 1, '1:1:', '1:1:', '0', 0, 0, '{}', false, '-infinity', '-infinity', '-infinity', '-infinity', '-infinity'
from generate_series(0, 1) b, generate_series(0, 1) l;

-- One row per claim (part > 0: split off by a partial renewal, same epoch).
create table :"schema".lease (
    box smallint not null,
    epoch bigint not null,
    part int not null default 0,
    owner uuid not null,
    until timestamptz not null,
    items int8multirange not null,
    has_parked boolean not null,        -- some of the items have rows in parked
    primary key (epoch, box, part))
    with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index lease_until on :"schema".lease (until);
create index lease_owner on :"schema".lease (owner, until);

-- Messages that left the straight path. Producers never write here. While leased, epoch is set
-- and the row is out of the availability indexes.
create table :"schema".parked (
    work_id bigint primary key,
    box smallint not null,
    epoch bigint,
    available_at timestamptz not null,
    expires_at timestamptz,
    retry_count int not null default 0,
    crash_count int not null default 0,
    topic text collate "C" not null,
    stream text collate "C",
    last_error text)
    with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index parked_due on :"schema".parked (box, available_at, work_id)
    where epoch is null and stream is null and crash_count = 0;
create index parked_topic on :"schema".parked (box, topic, available_at, work_id)
    where epoch is null and stream is null and crash_count = 0;
create index parked_suspect on :"schema".parked (box, available_at, work_id)
    where epoch is null and stream is null and crash_count > 0;
create index parked_stream on :"schema".parked (box, stream, work_id) where stream is not null;
create index parked_stream_leased on :"schema".parked (box, stream) where stream is not null and epoch is not null;
create index parked_expiring on :"schema".parked (box, expires_at) where expires_at is not null and epoch is null;
