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

-- Enqueueing. Two flags, read as sleeper_flag is (pg_sequence_last_value): each saves most messages a look through an index.

-- Whether a member of a join may wait for a message that does not exist yet (_attach, _settle_joins).
create sequence :"schema".awaited_flag minvalue 0;
-- Whether a message may be there under the id that programs of version 9 give to its key (_note_old_keys).
create sequence :"schema".old_key_flag minvalue 0;
do $do$
begin
    perform setval(':"schema".awaited_flag', 1) from :"schema".join_member m where m.work_id is null limit 1;
    perform setval(':"schema".old_key_flag', 1) from :"schema".message m limit 1;
end $do$;
