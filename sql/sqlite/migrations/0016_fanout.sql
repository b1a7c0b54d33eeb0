-- Fanout: policies that forward messages, and schedules.
--
-- A policy has no table of its own. It is its subscriptions, POLICY/DESTINATION or POLICY/all: no other subscription has a
-- slash in its name, or destinations. Programs of version 15 see subscriptions that nobody works for.
alter table boxcar_reader add column destinations text; -- a JSON array; null: nothing is forwarded
alter table boxcar_reader add column then_topic text;
alter table boxcar_reader add column else_topic text;
create index boxcar_reader_policy on boxcar_reader (name) where destinations is not null;

-- Work that is done again and again.
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
    paused_at integer, -- null: it runs
    joins integer not null default 0, -- how many slices of it have had: the next one is called after it
    unique (topic, work_key)
);

-- The newest slice of each shard; 0: there was none. It is open as long as due_at is null: its message has not ended.
create table boxcar_schedule_shard (
    schedule_id integer not null,
    shard integer not null,
    slice integer not null default 0,
    tries integer not null default 0,
    message_id blob,
    work_id integer,
    enqueued_at integer,
    completed_at integer,
    due_at integer,
    primary key (schedule_id, shard)
) without rowid;
create index boxcar_schedule_shard_due on boxcar_schedule_shard (schedule_id, due_at);
create index boxcar_schedule_shard_open on boxcar_schedule_shard (work_id) where due_at is null;

-- Who plans. One row.
create table boxcar_schedule_planner (
    planner_id integer primary key,
    owner blob,
    until integer not null,
    fence integer not null
);
insert into boxcar_schedule_planner (planner_id, until, fence) values (1, 0, 0);
