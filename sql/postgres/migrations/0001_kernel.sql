-- The kernel: a log, a frontier, leases and a parking lot (docs/architecture.md, "Storage").
-- On the happy path a message is written once and never updated: enqueue appends to message,
-- claim moves the frontier and writes one lease row, ack turns that row into one finished row.

create type :"schema".enqueue_result as (work_id bigint, message_id uuid, duplicate boolean);

-- What a claim returns, and what the views show: the fields of a message.
create type :"schema".claimed_message as (
    work_id bigint, epoch bigint, message_id uuid, box text, topic text, payload text, status text,
    created_at timestamptz, due_at timestamptz, available_at timestamptz, expires_at timestamptz,
    stream text, correlation_id text, headers jsonb, retry_count int, crash_count int,
    max_attempts int, last_error text, owner uuid, locked_until timestamptz,
    processed_at timestamptz, processed_by text, attempt int);

-- One row about the store itself. era, system_identifier and message_oid say to which cluster
-- and table the transaction ids in message belong: after a dump and restore or a logical copy
-- they are foreign (see functions/adopt.sql).
create table :"schema".store (
    singleton boolean primary key default true check (singleton),
    schema_version int not null,
    oldest_program int not null,
    functions_digest text,
    era smallint not null default 1,
    system_identifier text not null,
    message_oid oid not null,
    created_at timestamptz not null default now());

create table :"schema".setting (
    name text primary key,
    number double precision not null);

-- The log. Enqueue writes exactly one row and never changes it. xid is the writer's transaction,
-- by which claimers know what has become visible since they last looked; era is the numbering of
-- transactions it belongs to. cache 1: order of arrival is the order of work ids.
create table :"schema".message (
    work_id bigint generated always as identity (cache 1) primary key,
    xid xid8 not null default pg_current_xact_id(),
    message_id uuid not null,
    box smallint not null,
    lane smallint not null,         -- 0 plain, 1 streamed
    era smallint not null default 1,
    max_attempts int,               -- null: the setting
    created_at timestamptz not null,
    due_at timestamptz,
    expires_at timestamptz,
    topic text collate "C" not null,
    payload text not null,
    stream text collate "C",
    correlation_id text,
    headers jsonb);
create unique index message_message_id on :"schema".message (message_id);
create index message_fresh on :"schema".message (box, lane, era, xid, work_id);
create index message_expiring on :"schema".message (box, expires_at) where expires_at is not null;

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

-- One row per stream that has unfinished messages. available_at null: its head is leased. Only
-- claimers insert or delete these rows, so nobody else has to wait for one.
create table :"schema".stream (
    box smallint not null,
    key text collate "C" not null,
    available_at timestamptz,
    suspect boolean not null default false,
    primary key (box, key))
    with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index stream_due on :"schema".stream (box, suspect, available_at) where available_at is not null;

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

-- Counters of what is done, per topic. Acks append to tally_delta (no index, no contention),
-- maintenance folds it into tally.
create table :"schema".tally (
    box smallint not null,
    topic text collate "C" not null,
    done bigint not null,
    primary key (box, topic));
create table :"schema".tally_delta (
    first_id bigint not null,
    last_id bigint not null,
    box smallint not null)
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

insert into :"schema".store (schema_version, oldest_program, system_identifier, message_oid)
select 1, 1, (select system_identifier::text from pg_control_system()),
       (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = :'schema' and c.relname = 'message');

insert into :"schema".frontier
select b, l, 0, 1, '1:1:', '1:1:', '0', 0, 0, '{}', false, '-infinity', '-infinity', '-infinity', '-infinity', '-infinity'
from generate_series(0, 1) b, generate_series(0, 1) l;
