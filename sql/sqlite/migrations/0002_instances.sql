-- Workers that are running: one row each, written again with every heartbeat.
create table boxcar_instance_row (
    instance_id blob primary key, -- the owner of its leases
    box integer not null,
    host text not null,
    pid integer not null,
    concurrency integer not null,
    topics text not null, -- the patterns it handles, a JSON array
    started_at integer not null,
    seen_at integer not null
) without rowid;

-- Claims by pattern ask which topics have parked messages; topics of which all is done are many in time.
create index boxcar_tally_parked on boxcar_tally (box, topic) where parked > 0;
