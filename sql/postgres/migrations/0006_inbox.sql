-- The inbox: messages from outside, each stored once for its key (source, external id). Programs of earlier
-- versions see nothing of it; the functions that they call keep the keys in step.

create type :"schema".inbox_enqueue_result as (
    work_id bigint, message_id uuid, duplicate boolean, hash_mismatch boolean);

-- Where a message came from; null in the outbox.
alter table :"schema".message add column source text collate "C", add column external_id text collate "C";
alter type :"schema".claimed_message add attribute source text, add attribute external_id text;

-- One row for each key that was ever heard of, longer than its message lives. While the message is there
-- (state 1), what becomes of it is read from the message and nothing is written here; whoever removes the
-- message writes down how it ended. message_id derives from the key.
-- Locks: a row is locked by whoever tells of its key, until he commits; several keys in their order. Upkeep
-- passes over what is locked.
create table :"schema".inbox_key (
    source text collate "C" not null,
    external_id text collate "C" not null,
    message_id uuid not null,
    state smallint not null,              -- 0 only seen, 1 there is a message, 2 done, 3 dead
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    seen_count bigint not null,
    ended_at timestamptz,
    content_hash text,
    primary key (source, external_id))
    with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
-- What retention may remove, oldest first.
create index inbox_key_seen on :"schema".inbox_key (last_seen_at) where state <> 1;

-- These have parameters or columns more now: whoever calls them as before means the same.
drop function if exists :"schema"._enqueue(
    smallint, uuid[], text[], text[], text[], text[], text[], timestamptz[], bigint[], bigint[], int[], boolean, uuid[]);
drop function if exists :"schema"._items(bigint[], boolean);
drop function if exists :"schema"._maintain(smallint);
