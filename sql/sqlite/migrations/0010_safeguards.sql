-- What single users must not be able to do to everybody else, and what the trial of version 9 showed.

-- Instances and waits.

-- Limits of what is stored.

-- Keys that are free again once their message has ended ("unique"): the newest message of each, looked at when a message
-- wants the key. A message remembers its key, so that a replay can take it back; whichever program removes the message,
-- the key is forgotten with it. The ids derive from topic and key.
alter table boxcar_message add column unique_key blob;
create table boxcar_unique_key (
    key_id blob primary key,
    work_id integer not null
) without rowid;
create unique index boxcar_unique_key_work on boxcar_unique_key (work_id);
-- By its number: the column lies behind the payload, and reading it would read through all of that.
create trigger boxcar_unique_key_on_remove after delete on boxcar_message when old.box = 0
begin
    delete from boxcar_unique_key where work_id = old.work_id;
end;

-- Counters.
