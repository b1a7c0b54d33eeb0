-- Joins: counted in tables of their own. Messages know nothing of them.

create type :"schema".join_attach_result as (attached boolean, message_exists boolean);

-- One row per join. It changes once: when the join ends. A transaction that counts locks it first (for no key update,
-- so that attaching, which only needs the join to stay, never waits), in the order of ids.
-- last_lane: how many shared lanes of counters there are. Lane 0 belongs to the holder of this row.
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
    metadata text,
    last_lane smallint not null default 0)
    with (fillfactor = 80, toast_tuple_target = 256);
create index join_row_created on :"schema".join_row (created_at, join_id);
create index join_row_grouping on :"schema".join_row (grouping_key, created_at, join_id) where grouping_key is not null;
create index join_row_status on :"schema".join_row (status, created_at, join_id);
create index join_row_deadline on :"schema".join_row (deadline) where deadline is not null and status = 0;
create index join_row_ended on :"schema".join_row (ended_at) where ended_at is not null;
create index join_row_ended_xid on :"schema".join_row (ended_xid) where ended_xid is not null;

-- The counters of a join: one live row per lane, so that transactions that count in a large join do not wait for each
-- other's commit. The counters are the sums of the lanes. seq grows with every change and the newest row counts: looking
-- for the highest key finds it at once, however many dead versions an old snapshot keeps alive.
-- xid, xid_steps: the transaction that counted here last, and how many steps it has counted in this lane.
create table :"schema".join_progress (
    join_id uuid not null,
    seq bigint not null,
    completed_steps int not null,
    failed_steps int not null,
    updated_at timestamptz not null,
    lane smallint not null default 0,
    xid xid8,
    xid_steps int,
    primary key (join_id, lane, seq))
    with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- Members. work_id: of the message with that id, null while there is none; acks look here by work id.
-- status: of those that were reported by hand while they had no message; all others are in join_outcome, and
-- counting never rewrites a member.
-- check_at: attached apart from enqueueing, so the message may have ended before anybody could know that it
-- counts; then is the time to look (again).
-- in_span: its work id is in join_span, and is looked up there.
create table :"schema".join_member (
    join_id uuid not null,
    message_id uuid not null,
    work_id bigint,
    status smallint not null default 0,   -- 0 pending (or see there), 1 completed, 2 failed
    created_at timestamptz not null,
    check_at timestamptz,
    in_span boolean not null default false,
    primary key (join_id, message_id));
create index join_member_work on :"schema".join_member (work_id) where work_id is not null and not in_span;
create index join_member_unresolved on :"schema".join_member (message_id) where work_id is null;
create index join_member_check on :"schema".join_member (check_at) where check_at is not null;
create index join_member_check_join on :"schema".join_member (join_id, check_at) where check_at is not null;

-- Runs of work ids whose messages are all members of a join: those that were enqueued into it together, at
-- most 1,000 each. They are found without reading each member.
create table :"schema".join_span (
    join_id uuid not null,
    first_id bigint not null,
    last_id bigint not null,
    primary key (join_id, first_id));
create index join_span_first on :"schema".join_span (first_id);

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
