-- Joins: counted beside the messages, which know nothing of them. Programs of versions 1 and 2 count
-- as well, because the functions they call do.

create type :"schema".join_attach_result as (attached boolean, message_exists boolean);

-- One row per join. It changes once: when the join ends. Whoever counts locks it first (for no key update,
-- so that attaching, which only needs the join to stay, never waits), in the order of ids.
create table :"schema".join_row (
    join_id uuid primary key,
    expected_steps int not null,
    status smallint not null default 0,   -- 0 pending, 1 completed, 2 failed, 3 cancelled
    reason smallint,                      -- 1 timed out
    created_at timestamptz not null,
    deadline timestamptz,
    ended_at timestamptz,
    ended_xid xid8,                       -- the transaction that ended it can ask which ones it ended
    grouping_key text collate "C",
    metadata text)
    with (fillfactor = 80, toast_tuple_target = 256);
create index join_row_created on :"schema".join_row (created_at, join_id);
create index join_row_grouping on :"schema".join_row (grouping_key, created_at, join_id) where grouping_key is not null;
create index join_row_status on :"schema".join_row (status, created_at, join_id);
create index join_row_deadline on :"schema".join_row (deadline) where deadline is not null and status = 0;
create index join_row_ended on :"schema".join_row (ended_at) where ended_at is not null;
create index join_row_ended_xid on :"schema".join_row (ended_xid) where ended_xid is not null;

-- The counters of a join, one live row each. seq grows with every change and the newest counts: looking
-- for the highest key finds it at once, however many dead versions an old snapshot keeps alive.
create table :"schema".join_progress (
    join_id uuid not null,
    seq bigint not null,
    completed_steps int not null,
    failed_steps int not null,
    updated_at timestamptz not null,
    primary key (join_id, seq))
    with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- Members. work_id: of the message with that id, null while there is none; acks look here by work id.
-- status: of those that were reported by hand while they had no message; all others are in join_outcome, and
-- counting never rewrites a member.
-- check_at: attached apart from enqueueing, so the message may have ended before anybody could know that it
-- counts; then is the time to look (again).
create table :"schema".join_member (
    join_id uuid not null,
    message_id uuid not null,
    work_id bigint,
    status smallint not null default 0,   -- 0 pending (or see there), 1 completed, 2 failed
    created_at timestamptz not null,
    check_at timestamptz,
    primary key (join_id, message_id));
create index join_member_work on :"schema".join_member (work_id) where work_id is not null;
create index join_member_unresolved on :"schema".join_member (message_id) where work_id is null;
create index join_member_check on :"schema".join_member (check_at) where check_at is not null;
create index join_member_check_join on :"schema".join_member (join_id, check_at) where check_at is not null;

-- What became of members: a row for each run of neighbouring work ids that are all members and ended
-- together. Runs of a join never overlap.
create table :"schema".join_outcome (
    join_id uuid not null,
    first_id bigint not null,
    last_id bigint not null,
    status smallint not null,
    primary key (join_id, first_id));

-- Which messages wait for a join: made due when it ends.
create table :"schema".join_wait (
    join_id uuid not null,
    work_id bigint not null,
    primary key (join_id, work_id));

-- Some settings are texts; their number is 0.
alter table :"schema".setting add column text text;

-- These have parameters more now, with defaults, or more columns: whoever calls them as before means the same.
drop function if exists :"schema"._enqueue(
    smallint, uuid[], text[], text[], text[], text[], text[], timestamptz[], bigint[], bigint[], int[], boolean);
drop function if exists :"schema"._set(text, double precision);
drop function if exists :"schema"._is_drained(smallint, text[], text[], interval);
drop function if exists :"schema"._maintain(smallint);
drop function if exists :"schema"._dead_act(
    smallint, text, boolean, smallint, timestamptz, bigint[], uuid[], bigint, int, boolean, text);
