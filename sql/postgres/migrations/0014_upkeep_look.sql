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
