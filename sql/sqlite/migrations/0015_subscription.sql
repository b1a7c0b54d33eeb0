-- Subscriptions: further readers of a box's log, each with frontier, leases, retries, order and dead letters of its own.
--
-- Reader 0 is the main reader of the outbox, 1 that of the inbox, subscriptions have numbers from 2 on. Where a table
-- had the box as a part of its key already (frontier, stream_halt, stream_violation, tally, instance_row), the column
-- holds the number of a reader. The other tables are the main readers'. What subscriptions know is in tables of their
-- own with the same columns, because a wider key would cost every message of the main readers, and programs
-- of version 14 go on working with theirs.

-- Numbers are never used again, which autoincrement promises.
create table boxcar_reader (
    number integer primary key autoincrement,
    name text unique,                -- null: it was removed, and what it knew is on its way out
    box integer not null,            -- whose messages it reads
    patterns text not null,          -- a JSON array of topics, or prefixes followed by *
    "only" integer not null default 0, -- the main reader passes over what it reads
    created_at integer not null,
    start_at text not null,          -- what was asked: end, beginning or a time
    paused_at integer,
    rewound_at integer,
    max_lag_ms integer not null default 0, -- 0 = off
    max_lag_count integer not null default 0
);
insert into boxcar_reader (number, name, box, patterns, created_at, start_at)
values (0, 'outbox', 0, '["*"]', cast(strftime('%s', 'now') as integer) * 1000000, 'beginning'),
       (1, 'inbox', 1, '["*"]', cast(strftime('%s', 'now') as integer) * 1000000, 'beginning');
-- Mostly there is none.
create index boxcar_reader_only on boxcar_reader (box) where "only" = 1 and name is not null;

-- When readers were sent back, and where to.
create table boxcar_reader_rewind (
    rewind_id integer primary key,
    box integer not null,
    at integer not null,
    target text not null,
    position integer not null -- the last message that was not delivered again
);
create index boxcar_reader_rewind_box on boxcar_reader_rewind (box, at);

-- Messages that the main reader passed over, because a subscription has taken their topic from it: runs of neighbours.
-- They are removed once no subscription wants them.
create table boxcar_passed (
    first_id integer primary key,
    last_id integer not null
);

-- What subscriptions know. As the main readers' tables without reader_ in their names; but the streams of
-- subscriptions always go through the lot.
create table boxcar_reader_lease (
    box integer not null,
    work_id integer not null,
    epoch integer not null,
    owner blob not null,
    until integer not null,
    parked integer not null,
    topic text not null,
    stream text,
    primary key (box, work_id)
) without rowid;
create index boxcar_reader_lease_until on boxcar_reader_lease (box, until);

create table boxcar_reader_parked (
    box integer not null,
    work_id integer not null,
    state integer not null,
    topic text not null,
    stream text,
    available_at integer not null,
    expires_at integer,
    retry_count integer not null,
    crash_count integer not null,
    last_error text,
    partition integer,
    primary key (box, work_id)
) without rowid;
create index boxcar_reader_parked_available on boxcar_reader_parked (box, state, available_at, work_id, partition)
    where state <> 2 and state <> 3;
create index boxcar_reader_parked_topic on boxcar_reader_parked (box, state, topic, available_at, work_id, partition)
    where state <> 2 and state <> 3;
create index boxcar_reader_parked_stream on boxcar_reader_parked (box, stream, state, work_id) where stream is not null;
create index boxcar_reader_parked_expiry on boxcar_reader_parked (box, expires_at)
    where expires_at is not null and state < 3;

create table boxcar_reader_finished (
    box integer not null,
    first_id integer not null,
    last_id integer not null,
    owner blob not null,
    at integer not null,
    primary key (box, first_id)
) without rowid;
create index boxcar_reader_finished_at on boxcar_reader_finished (box, at);

create table boxcar_reader_dead (
    box integer not null,
    work_id integer not null,
    topic text not null,
    reason integer not null,
    died_at integer not null,
    retry_count integer not null,
    crash_count integer not null,
    last_error text,
    primary key (box, work_id)
) without rowid;
create index boxcar_reader_dead_died on boxcar_reader_dead (box, died_at);

-- Messages that a subscription has ended before its frontier came to them, and of which it knows nothing more: they were
-- cancelled, and the dead letter is gone. Upkeep removes the row when the frontier has passed.
create table boxcar_reader_skip (
    box integer not null,
    work_id integer not null,
    primary key (box, work_id)
) without rowid;

create table boxcar_reader_attempt (
    attempt_id integer primary key,
    box integer not null,
    work_id integer not null,
    at integer not null,
    retry_count integer not null,
    outcome text not null,
    owner blob,
    epoch integer,
    error text
);
create index boxcar_reader_attempt_work on boxcar_reader_attempt (box, work_id);

-- As before, but a message that the main reader passed over is not dead.
drop trigger if exists boxcar_inbox_on_remove;
create trigger boxcar_inbox_on_remove before delete on boxcar_message when old.box = 1
begin
    update boxcar_inbox_key
    set (state, ended_at) = (
            select case when f.first_id is null and p.first_id is null then 3 else 2 end,
                   coalesce(f.at, d.died_at, cast(strftime('%s', 'now') as integer) * 1000000)
            from (select 1)
            left join boxcar_finished f on f.first_id =
                (select max(r.first_id) from boxcar_finished r where r.first_id <= old.work_id)
                and f.last_id >= old.work_id
            left join boxcar_passed p on p.first_id =
                (select max(r.first_id) from boxcar_passed r where r.first_id <= old.work_id)
                and p.last_id >= old.work_id
            left join boxcar_dead d on d.work_id = old.work_id),
        work_id = null
    where work_id = old.work_id;
end;
