-- What single users must not be able to do to everybody else, and what the trial of version 9 showed.

-- Turns and frontiers.

-- Streams and upkeep. A server that publishes all tables refuses deletes from a table without a replica identity. These
-- are appended on hot paths: a key would cost each append an index entry, the whole row costs only whoever publishes.
alter table :"schema".attempt replica identity full;
alter table :"schema".tally_delta replica identity full;
alter table :"schema".stream_note replica identity full;
alter table :"schema".stream_violation replica identity full;
create index stream_violation_at on :"schema".stream_violation (box, at);

-- Instances and waits.

-- Limits of what is stored.

-- Keys that are free again once their message has ended ("unique"): which message has each, looked up when a message
-- wants it. Nothing is written when a message ends; whoever removes it removes the key (_forget_keys). A message
-- remembers its key, so that a replay can take it back. key_id derives from topic and key.
alter table :"schema".message add column unique_key uuid;
create table :"schema".unique_key (
    key_id uuid primary key,
    message_id uuid not null)
    with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- These have a parameter more now: a call as before means the same.
drop function if exists :"schema".enqueue(
    text, text, text, timestamptz, interval, text, jsonb, uuid, text, int, uuid);
drop function if exists :"schema"._dead_replay(smallint, bigint[], text);

-- Counters.
