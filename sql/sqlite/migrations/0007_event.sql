-- Events: kept for ever. One writer at a time: the order of commits is that of the rows, so the row's number is
-- the position that everybody follows, without gaps since nothing is ever removed.
create table boxcar_event_row (
    position integer primary key,
    event_id blob not null unique,
    stream text not null,
    version integer not null,
    type text not null,
    correlation_id text,
    headers text,
    created_at integer not null,
    payload text not null
);
create unique index boxcar_event_row_version on boxcar_event_row (stream, version);
