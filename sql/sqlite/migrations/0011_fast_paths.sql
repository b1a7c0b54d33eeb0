-- What makes every path fast.

-- Streams.

-- A streamed message stays in the log, in lane 2, and is leased from there as long as nothing goes wrong. `stream`: such a
-- lease; null for all others. The index knows the streams that are in hands without a parked row.
alter table boxcar_lease add column stream text;
create index boxcar_lease_stream on boxcar_lease (box, stream, work_id) where stream is not null;
-- The messages of a stream that nobody has met yet are those beyond the frontier.
create index boxcar_message_stream on boxcar_message (box, stream, work_id) where lane = 2;

-- Upkeep. When a round of it ran last, null = never since `since`, when this table was made.
create table boxcar_upkeep (
    only_row integer primary key check (only_row = 1),
    since integer not null,
    ran_at integer);
insert into boxcar_upkeep values (1, cast(strftime('%s', 'now') as integer) * 1000000, null);
