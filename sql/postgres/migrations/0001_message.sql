-- Messages: the log (docs/architecture.md, "Storage").
-- On the happy path a message is written once and never updated: enqueue appends to message,
-- claim moves the frontier and writes one lease row, ack turns that row into one finished row.

create type :"schema".enqueue_result as (work_id bigint, message_id uuid, duplicate boolean);

-- What a claim returns, and what the views show: the fields of a message.
create type :"schema".claimed_message as (
    work_id bigint, epoch bigint, message_id uuid, box text, topic text, payload text, status text,
    created_at timestamptz, due_at timestamptz, available_at timestamptz, expires_at timestamptz,
    stream text, correlation_id text, headers jsonb, retry_count int, crash_count int,
    max_attempts int, last_error text, owner uuid, locked_until timestamptz,
    processed_at timestamptz, processed_by text, attempt int, stages int, source text, external_id text);

-- The log. Enqueue writes exactly one row and never changes it. xid is the writer's transaction,
-- by which claimers know what has become visible since they last looked; era is the numbering of
-- transactions it belongs to. cache 1: order of arrival is the order of work ids.
create table :"schema".message (
    work_id bigint generated always as identity (cache 1) primary key,
    xid xid8 not null default pg_current_xact_id(),
    message_id uuid not null,
    box smallint not null,
    lane smallint not null,         -- 0 plain, 1 streamed
    era smallint not null default 1,
    max_attempts int,               -- null: the setting
    created_at timestamptz not null,
    due_at timestamptz,
    expires_at timestamptz,
    topic text collate "C" not null,
    payload text not null,
    stream text collate "C",
    correlation_id text,
    headers jsonb,
    source text collate "C",        -- where it came from: null in the outbox
    external_id text collate "C");
create unique index message_message_id on :"schema".message (message_id);
create index message_fresh on :"schema".message (box, lane, era, xid, work_id);
create index message_expiring on :"schema".message (box, expires_at) where expires_at is not null;
