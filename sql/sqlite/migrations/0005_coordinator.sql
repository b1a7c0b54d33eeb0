-- One worker serves both boxes, and messages may be done in stages.

-- Workers that are running: one row for each box that a worker serves, written again with every heartbeat.
-- They are back within seconds.
drop view if exists boxcar_instance;
drop table boxcar_instance_row;
create table boxcar_instance_row (
    instance_id blob not null, -- the owner of its leases
    box integer not null,
    host text not null,
    pid integer not null,
    concurrency integer not null,
    topics text not null, -- the patterns it handles, a JSON array
    started_at integer not null,
    seen_at integer not null,
    primary key (instance_id, box)
) without rowid;

-- Which stages of a message are done: one row for each message that anybody recorded one for, gone with the
-- message. Flags as in boxcar/message.h.
create table boxcar_stage (
    work_id integer primary key,
    flags integer not null
);
