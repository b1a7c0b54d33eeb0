-- What makes every path fast, and keeps a single user from stalling everybody.

-- Claims.

-- Messages that claimers have come past in the log and that nobody has yet: rows of ids of one topic. A small claim takes
-- a row, or a part of one, and needs no turn. holder: a transaction that has locked these messages for a claim of its own;
-- they are free again when it rolls back.
create table :"schema".pool (
    box smallint not null,
    place bigint generated always as identity (cache 1),
    holder xid8,
    topic text collate "C" not null,
    items int8multirange not null,
    primary key (box, place))
    with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index pool_topic on :"schema".pool (box, topic, place) where holder is null;
create index pool_held on :"schema".pool (box, holder) where holder is not null;
