-- What one call may say of a message: what caused it, metadata, and that it is an event.

-- causation_id: the message or call that caused this one. metadata: a JSON object of the caller. event_type: the message is
-- an event of its stream, stored with it (_store_events). Null in most messages, and then they take no room.
alter table :"schema".message
    add column causation_id text, add column event_type text collate "C", add column metadata jsonb;
alter type :"schema".claimed_message
    add attribute causation_id text, add attribute event_type text, add attribute metadata jsonb;
alter table :"schema".event_row add column causation_id text;
alter type :"schema".event_entry add attribute causation_id text;

-- The joins of a message (message_joins).
create index join_member_message on :"schema".join_member (message_id);

-- These have parameters or columns more now: a call as before means the same.
drop function if exists :"schema".enqueue(
    text, text, text, timestamptz, interval, text, jsonb, uuid, text, int, uuid, boolean);
drop function if exists :"schema".inbox_enqueue(
    text, text, text, text, text, text, timestamptz, interval, text, jsonb, int);
drop function if exists :"schema"._enqueue_messages(
    smallint, uuid[], text[], text[], text[], text[], text[], timestamptz[], bigint[], bigint[], int[], boolean, uuid[],
    text[], text[], uuid[], uuid[]);
drop function if exists :"schema"._enqueue_one(
    uuid, text, text, text, text, text, timestamptz, interval, interval, int, boolean, uuid, uuid, uuid);
drop function if exists :"schema"._inbox_enqueue(
    uuid[], text[], text[], text[], text[], text[], timestamptz[], bigint[], bigint[], int[], text[], text[], text[]);
drop function if exists :"schema"._inbox_enqueue_one(
    uuid, text, text, text, text, text, timestamptz, interval, interval, int, text, text, text, boolean);
drop function if exists :"schema"._inbox_put(
    uuid, text, text, text, text, jsonb, timestamptz, interval, int, text, text, text, timestamptz, boolean);
drop function if exists :"schema"._inbox_store(
    uuid[], text[], text[], text[], text[], text[], timestamptz[], bigint[], bigint[], int[], text[], text[]);
drop function if exists :"schema"._read_messages(jsonb, smallint);
drop function if exists :"schema"._items(bigint[], boolean);
drop function if exists :"schema"._check_message(
    text, text, text, text, timestamptz, interval, text, jsonb, uuid, text, int, uuid);
drop function if exists :"schema"._refuse_message(
    smallint, uuid, text, text, text, text, jsonb, timestamptz, bigint, bigint, int);
drop function if exists :"schema"._refuse_one(
    uuid, text, text, text, text, jsonb, timestamptz, interval, interval, int, boolean, uuid);
drop function if exists :"schema".event_append(text, text, text, bigint, uuid, jsonb, text, text);
drop function if exists :"schema"._event_append(text, bigint, uuid[], text[], text[], text[], text[], text[]);
drop function if exists :"schema"._check_event(text, text, text, uuid, jsonb, text, text);
drop function if exists :"schema"._refuse_event(uuid, text, text, text, jsonb);
drop function if exists :"schema".join_wait(uuid, boolean, text, text, text, text, text, uuid);
drop function if exists :"schema"._join_wait(uuid, uuid, text, text, int);
drop function if exists :"schema"._claim_part(smallint, uuid, jsonb);
drop function if exists :"schema"._join_page(text, smallint, timestamptz, uuid, int);
drop function if exists :"schema"._sort_window(
    :"schema".frontier, int, int, timestamptz, text[], text[], text, boolean);

-- Programs of version 10 call functions that are gone by now: they are told so instead of failing at some call.
update :"schema".store set oldest_program = 11;
