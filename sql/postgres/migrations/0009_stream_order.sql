-- Streams whose head may have changed while somebody had their row locked: to be looked at again when it is free, in case
-- he undid what he had done. Written and removed under the turn.
create table :"schema".stream_note (
    box smallint not null,
    key text collate "C" not null);
create index stream_note_box on :"schema".stream_note (box, key);
