-- The inbox: messages from outside, each stored once for its key (source, external id).

-- One row for each key that was ever heard of, longer than its message lives. State 0 only seen, 1 there is a
-- message (work_id; what becomes of it is read there), 2 done, 3 dead.
create table boxcar_inbox_key (
    source text not null,
    external_id text not null,
    state integer not null,
    work_id integer,
    seen_count integer not null,
    first_seen_at integer not null,
    last_seen_at integer not null,
    ended_at integer,
    content_hash text,
    primary key (source, external_id)
) without rowid;
create unique index boxcar_inbox_key_work on boxcar_inbox_key (work_id) where work_id is not null;
-- What retention may remove, oldest first.
create index boxcar_inbox_key_seen on boxcar_inbox_key (last_seen_at) where state <> 1;

-- Whoever removes a message of the inbox, be it a program that knows nothing of keys, its key remembers how it
-- ended. Such a program has removed the dead letter before: then the time is now.
create trigger boxcar_inbox_on_remove before delete on boxcar_message when old.box = 1
begin
    update boxcar_inbox_key
    set (state, ended_at) = (
            select case when f.first_id is null then 3 else 2 end,
                   coalesce(f.at, d.died_at, cast(strftime('%s', 'now') as integer) * 1000000)
            from (select 1)
            left join boxcar_finished f on f.first_id =
                (select max(r.first_id) from boxcar_finished r where r.first_id <= old.work_id)
                and f.last_id >= old.work_id
            left join boxcar_dead d on d.work_id = old.work_id),
        work_id = null
    where work_id = old.work_id;
end;
