-- Instances: who works here, and who is asleep.

-- One row per worker and box that it serves; the view `instance` shows them. Patterns as claims take them:
-- exact topics, and prefixes without their *.
create table :"schema".instance_row (
    instance_id uuid not null,      -- the owner of its leases
    box smallint not null,
    host text not null,
    pid bigint not null,
    concurrency int not null,
    exact text[] not null,
    prefixes text[] not null,
    started_at timestamptz not null,
    seen_at timestamptz not null,
    primary key (instance_id, box))
    with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Workers that wait for a notification: one row per nap. Producers look here at every enqueue, and notify
-- only when somebody sleeps who would want the message. A row ends by itself (until), and naps are short,
-- so a look never passes more than the naps of the last seconds, however many dead rows somebody's old
-- snapshot keeps alive. A crash empties the table: polling finds what nobody was woken for.
create unlogged table :"schema".sleeper (
    until timestamptz not null,
    instance_id uuid not null,
    box smallint not null,
    exact text[] not null,
    prefixes text[] not null)
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index sleeper_until on :"schema".sleeper (until);

-- Whether anybody sleeps, and for what, in one number that costs no query to read: the
-- second until which it holds, and a bit for each of 16 topic hash buckets. A sequence, since it changes at
-- once and without a transaction. Those who fall asleep set it; it may say too much, and too little for the
-- length of a nap.
create sequence :"schema".sleeper_flag minvalue 0;
