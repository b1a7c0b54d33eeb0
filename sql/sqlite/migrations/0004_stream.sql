-- Streams: several messages at a time, policies on death, partitions.

-- Streams that stand still, and the dead letters for which they do. All their parked rows are behind (state 2).
create table boxcar_stream_halt (
    box integer not null,
    stream text not null,
    halted_at integer not null,
    halted_by integer not null,
    primary key (box, stream)
) without rowid;

-- What happens to streams when a message of theirs dies, where the setting stream_policy is not to decide. A pattern
-- is a key, or ends in * and stands for all that begin so. Policy 0 continue, 1 halt.
create table boxcar_stream_rule (
    pattern text primary key,
    policy integer not null
) without rowid;

-- Evidence of messages that were acked before an earlier one of their stream, which had been handed out, was finished.
create table boxcar_stream_violation (
    violation_id integer primary key,
    at integer not null,
    box integer not null,
    stream text not null,
    work_id integer not null,
    earlier_id integer not null
);
create index boxcar_stream_violation_at on boxcar_stream_violation (at);
