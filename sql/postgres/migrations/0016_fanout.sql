-- Fanout: policies that forward messages (docs/fanout.md), and schedules.

-- A policy is its subscriptions. destinations: where this one forwards to; null: it is no policy's. then_topic, else_topic: the copies
-- of a message are the steps of a join, and that is what is enqueued when it has ended.
alter table :"schema".reader
    add column destinations text[], add column then_topic text, add column else_topic text;

-- Work that is done again and again. A schedule keeps its id when its server changes, so that none is ever used again.
create table :"schema".schedule_row (
    id uuid primary key,
    topic text collate "C" not null,
    work_key text collate "C" not null,
    every_ms bigint not null,
    jitter_ms bigint not null,
    shards int not null,
    then_topic text,
    else_topic text,
    created_at timestamptz not null,
    paused_at timestamptz,          -- null: it runs
    unique (topic, work_key));

-- The newest slice of each shard; 0: there was none. It is open as long as due_at is null: its message has not ended.
create table :"schema".schedule_shard (
    id uuid not null,
    shard int not null,
    runs boolean not null default true,   -- as paused_at of its schedule says, for the indexes
    slice bigint not null default 0,
    tries int not null default 0,
    message_id uuid,
    work_id bigint,
    enqueued_at timestamptz,
    completed_at timestamptz,
    due_at timestamptz,
    primary key (id, shard))
    with (fillfactor = 80);
create index schedule_due on :"schema".schedule_shard (due_at) where runs and due_at is not null;
create index schedule_open on :"schema".schedule_shard (work_id) where due_at is null;

-- Who plans.
create table :"schema".schedule_planner (
    singleton boolean primary key default true check (singleton),
    owner uuid,
    until timestamptz,
    fence bigint not null default 0)
    with (fillfactor = 50);
insert into :"schema".schedule_planner default values;
