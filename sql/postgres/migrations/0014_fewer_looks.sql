-- Two flags more, read and set as awaited_flag is (see 0011): while one is unset, every claim or ack is saved looks through indexes.
-- A call of an older function may be in the middle of what they tell of, and does not set them. So they are set in a store that has
-- been used, whatever can be seen in it.

-- Whether a message may be a member of a join (_attach, _attach_enqueued, _attach_fresh).
create sequence :"schema".member_flag minvalue 0;
-- Whether an owner may be registered (_register).
create sequence :"schema".instance_flag minvalue 0;
select setval(':"schema".member_flag', 1), setval(':"schema".instance_flag', 1)
where pg_sequence_last_value(pg_get_serial_sequence(':"schema".message', 'work_id')) is not null
   or exists (select from :"schema".instance_row);

-- It returns a column more.
drop function if exists :"schema"._claim_at_once(smallint, uuid, interval, int, text[], text[], bigint, bigint);

-- How far upkeep has come, so that a round does not read again what earlier rounds have removed (_fold_tally, _purge_done). While
-- another transaction holds an old snapshot, rows that were removed stay where they are, for hours maybe.
create table :"schema".upkeep_look (
    box smallint primary key,
    -- When to look at everything again, for what was committed behind these bounds meanwhile.
    look_at timestamptz not null default '-infinity',
    delta_from bigint not null default 0,   -- the first page of tally_delta that may hold rows
    finished_from timestamptz not null default '-infinity',   -- nothing before this is left in finished
    -- The look at everything that is under way: the snapshot when it began, and how many pages tally_delta had then.
    look pg_snapshot,
    look_end bigint,
    folded pg_snapshot)   -- what was done by transactions visible here has been counted
    with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
insert into :"schema".upkeep_look (box) values (0), (1);
