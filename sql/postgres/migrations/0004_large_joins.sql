-- Large joins: those who count in one do not wait for each other's commit, and members that were enqueued
-- together are found without reading each.

-- How many lanes there are to be shared, beside lane 0, which belongs to whoever holds the join's row.
alter table :"schema".join_row add column last_lane smallint not null default 0;

-- A row a lane; the counters of a join are their sums. xid, xid_steps: the transaction that counted here last,
-- and how many steps it has counted in this lane.
alter table :"schema".join_progress
    add column lane smallint not null default 0, add column xid xid8, add column xid_steps int,
    drop constraint join_progress_pkey, add primary key (join_id, lane, seq);

-- Runs of work ids whose messages are all members of a join: those that were enqueued into it together, at
-- most 1,000 each. They are not looked up one by one any more.
create table :"schema".join_span (
    join_id uuid not null,
    first_id bigint not null,
    last_id bigint not null,
    primary key (join_id, first_id));
create index join_span_first on :"schema".join_span (first_id);
alter table :"schema".join_member add column in_span boolean not null default false;
drop index :"schema".join_member_work;
create index join_member_work on :"schema".join_member (work_id) where work_id is not null and not in_span;

-- These say which lane they got now.
drop function if exists :"schema"._lock_in_time(uuid[]);
drop function if exists :"schema"._try_lock(uuid[]);
drop function if exists :"schema"._count_one_by_one(int8multirange, smallint, timestamptz, uuid[]);
