-- Events: kept for ever, versioned within their stream, and numbered for all who follow (docs/events.md).

create type :"schema".event_append_result as (event_id uuid, version bigint, duplicate boolean);
create type :"schema".event_entry as (
    event_id uuid, stream text, version bigint, "position" bigint, type text, payload text, headers jsonb,
    correlation_id text, created_at timestamptz);

-- One row per event, written once. event_no is drawn while the stream is locked, so within a stream its order is
-- that of the versions; across streams it says nothing about the order of commits, which is why positions are
-- given out afterwards (functions/event/_sequence_events.sql). xid is the writer's transaction. cache 1: numbers grow in
-- the order in which they are drawn.
create table :"schema".event_row (
    event_no bigint generated always as identity (cache 1),
    xid xid8 not null default pg_current_xact_id(),
    event_id uuid not null,
    created_at timestamptz not null,
    version bigint not null,
    stream text collate "C" not null,
    type text collate "C" not null,
    correlation_id text,
    headers jsonb,
    payload text not null,
    primary key (event_no) include (xid));
create unique index event_row_event_id on :"schema".event_row (event_id);
create unique index event_row_version on :"schema".event_row (stream, version);
create index event_row_xid on :"schema".event_row (xid, event_no);

-- What writers of a stream lock. Never updated: the version is that of the stream's last event, which is found at
-- once however many dead row versions an old snapshot keeps alive.
create table :"schema".event_stream (
    stream text collate "C" primary key);

-- Positions: the events numbered first_id to last_id, all of them there, have those from first_position on. No
-- event is in two runs, and positions have no gaps.
create table :"schema".event_run (
    first_position bigint primary key,
    first_id bigint not null,
    last_id bigint not null);
create unique index event_run_first_id on :"schema".event_run (first_id);

-- How far positions were given out. The window is what is visible in target and not in base; its events up to
-- done_id have positions. Append-only and trimmed: the newest row counts, and the primary key makes whoever has a
-- stale view fail.
-- base_low, base_xid: a transaction numbered above base_xid began after event number base_low was drawn, so its
-- events have higher ones. The same for target. window_end: no event of the window has a higher number. Events up
-- to era_id were positioned when the store was adopted; their xids are another server's.
create table :"schema".event_frontier (
    seq bigint primary key,
    base pg_snapshot not null,
    base_low bigint not null,
    base_xid xid8 not null,
    target pg_snapshot not null,
    target_low bigint not null,
    target_xid xid8 not null,
    window_end bigint not null,
    is_open boolean not null,
    done_id bigint not null,
    era_id bigint not null,
    next_position bigint not null)
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

insert into :"schema".event_frontier values (0, '1:1:', 0, '0', '1:1:', 0, '0', 0, false, 0, 0, 1);
