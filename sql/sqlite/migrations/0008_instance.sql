-- Instances: the workers that are running. One row for each box that a worker serves, written again with every heartbeat.
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
