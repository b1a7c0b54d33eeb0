-- Fanout: policies that forward messages, and schedules.
--
-- A policy has no table of its own. It is its subscriptions, POLICY/DESTINATION or POLICY/all: no other subscription has a
-- slash in its name, or destinations. Programs of version 15 see subscriptions that nobody works for.
alter table boxcar_reader add column destinations text; -- a JSON array; null: nothing is forwarded
alter table boxcar_reader add column then_topic text;
alter table boxcar_reader add column else_topic text;
create index boxcar_reader_policy on boxcar_reader (name) where destinations is not null;

-- Schedules. Each shard has a row, which is about its newest slice.
create table boxcar_schedule_row (
    schedule_id integer primary key,
    topic text not null,
    work_key text not null,
    every_ms integer not null,
    jitter_ms integer not null,
    shards integer not null,
    then_topic text,
    else_topic text,
    created_at integer not null,
    paused_at integer,
    joins integer not null default 0, -- how many slices of it have had, for the ids of these
    unique (topic, work_key)
);

-- Open, which is enqueued and not completed: due_at is null. So those are found by the index that finds what is due.
create table boxcar_schedule_shard (
    schedule_id integer not null,
    shard integer not null,
    slice integer not null default 0, -- 0: there was none yet
    tries integer not null default 0,
    message_id blob,
    enqueued_at integer,
    completed_at integer,
    due_at integer,
    primary key (schedule_id, shard)
) without rowid;
create index boxcar_schedule_shard_due on boxcar_schedule_shard (schedule_id, due_at);

-- Who plans. One row.
create table boxcar_planner (
    planner_id integer primary key,
    owner blob,
    until integer not null,
    fence integer not null
);
insert into boxcar_planner (planner_id, until, fence) values (1, 0, 0);
