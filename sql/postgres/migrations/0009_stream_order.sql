-- Streams whose head may have changed while somebody had their row locked: to be looked at again when it is free, in case
-- he undid what he had done. Written and removed under the turn.
create table :"schema".stream_note (
    box smallint not null,
    key text collate "C" not null);
create index stream_note_box on :"schema".stream_note (box, key);

-- These are not needed any more.
drop function if exists :"schema"._lock_leases(smallint, uuid, bigint[]);
drop function if exists :"schema"._counting_ids(jsonb);
