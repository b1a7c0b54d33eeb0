-- What single users must not be able to do to everybody else, and what the trial of version 9 showed.

-- Turns and frontiers.

-- Streams and upkeep.
alter table :"schema".stream_note replica identity full;

-- Instances and waits.

-- Limits of what is stored.

-- Keys.

-- Counters.
