-- The inbox: messages from outside, each stored once for its key (source, external id).

create type :"schema".inbox_enqueue_result as (
    work_id bigint, message_id uuid, duplicate boolean, hash_mismatch boolean);

-- One row for each key that was ever heard of, longer than its message lives. While the message is there
-- (state 1), what becomes of it is read from the message and nothing is written here; a call that removes the
-- message writes down how it ended. message_id derives from the key.
-- Locks: a transaction that uses keys locks their rows, in their order, until it ends. Upkeep passes over what is locked.
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
