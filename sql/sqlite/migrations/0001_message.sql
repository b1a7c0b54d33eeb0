-- Messages: the log.
--
-- One writer at a time makes the order of commits the order of numbers, so the frontier is one
-- number for each box. Times are microseconds since 1970 UTC; ids of 16 bytes are blobs.

-- One row a message, written once. Lane 0 is the straight path: fresh while its number is
-- beyond the frontier of its box. Lane 1 was set aside when it was enqueued (due later, streamed,
-- expiring) or cancelled before a claim reached it; claims pass over it in the log.
-- The payload comes last, so that reading the other columns never touches its overflow pages.
create table boxcar_message (
    work_id integer primary key,
    message_id blob not null unique,
    box integer not null,
    lane integer not null,
    topic text not null,
    stream text,
    correlation_id text,
    headers text,
    created_at integer not null,
    due_at integer,
    expires_at integer,
    max_attempts integer,
    payload text not null
);

-- Work ids are never used twice: the next one follows the newest message or the highest that was
-- removed. Autoincrement promises the same, but writes one more page with every enqueue.
create table boxcar_removed (
    only_row integer primary key check (only_row = 1),
    highest_id integer not null
);
insert into boxcar_removed (only_row, highest_id) values (1, 0);
