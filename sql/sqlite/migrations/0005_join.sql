-- Joins: counters of steps, the messages that are the steps, and the waits that stay until a join has ended.

-- One row a join. Status 0 pending, 1 completed, 2 failed, 3 cancelled; reason 1 = its deadline came.
-- The metadata comes last, so that counting does not read its overflow pages first.
create table boxcar_join (
    join_id blob not null primary key,
    grouping_key text,
    expected_steps integer not null,
    completed_steps integer not null default 0,
    failed_steps integer not null default 0,
    status integer not null default 0,
    reason integer not null default 0,
    created_at integer not null,
    last_updated_at integer not null,
    deadline integer,
    metadata text
);
create index boxcar_join_created on boxcar_join (created_at, join_id);
create index boxcar_join_status on boxcar_join (status, created_at, join_id);
create index boxcar_join_grouping on boxcar_join (grouping_key, created_at, join_id) where grouping_key is not null;
create index boxcar_join_grouping_status on boxcar_join (grouping_key, status, created_at, join_id)
    where grouping_key is not null;
create index boxcar_join_deadline on boxcar_join (deadline) where status = 0 and deadline is not null;
create index boxcar_join_ended on boxcar_join (last_updated_at) where status <> 0;

-- The members of joins. Status 0 pending, 1 completed, 2 failed. `work_id` is null while no message has
-- the id. `settle`: the message ended (1 done, 2 dead) without being counted, because it had ended before
-- it was attached; counting comes later.
create table boxcar_join_member (
    join_id blob not null,
    message_id blob not null,
    work_id integer,
    status integer not null default 0,
    settle integer not null default 0,
    created_at integer not null,
    primary key (join_id, message_id)
) without rowid;
-- Not only of pending ones: counting a step leaves this index alone, and a replay finds what was counted.
create index boxcar_join_member_work on boxcar_join_member (work_id) where work_id is not null;
create index boxcar_join_member_unknown on boxcar_join_member (message_id) where work_id is null;
create index boxcar_join_member_settle on boxcar_join_member (join_id, work_id) where settle <> 0;

-- What became of members: a row for each run of neighbouring work ids that are all members of the join and ended
-- together. Runs of a join never overlap. Counting looks here and nowhere else. The member's own row says it
-- as well for those reported by hand or counted by a program of version 3; and alone while there is no message.
create table boxcar_join_outcome (
    join_id blob not null,
    first_id integer not null,
    last_id integer not null,
    status integer not null,
    primary key (join_id, first_id)
) without rowid;

-- Waits that have not ended, and the join each waits for.
create table boxcar_join_wait (
    work_id integer primary key,
    join_id blob not null
);
create index boxcar_join_wait_join on boxcar_join_wait (join_id);

-- Programs that know nothing of joins may work at the same time as those that do. What they ack or bury is marked here
-- and counted later. A program that counts by itself says so (`counted`).
create trigger boxcar_join_on_finished after insert on boxcar_finished when new.counted = 0
begin
    delete from boxcar_join_wait where work_id between new.first_id and new.last_id;
    update boxcar_join_member set settle = 1
    where work_id between new.first_id and new.last_id and status = 0
      and (select j.status from boxcar_join j where j.join_id = boxcar_join_member.join_id) = 0;
end;
create trigger boxcar_join_on_dead after insert on boxcar_dead when new.counted = 0
begin
    delete from boxcar_join_wait where work_id = new.work_id;
    update boxcar_join_member set settle = 2
    where work_id = new.work_id and status = 0
      and (select j.status from boxcar_join j where j.join_id = boxcar_join_member.join_id) = 0;
end;

-- A member that is reported by hand is marked in its row. So is every member that a program of version 3 counts, which
-- may work at the same time as newer ones. What has its outcome already is passed over, so that it counts once.
create trigger boxcar_join_member_on_count before update of status on boxcar_join_member
when old.status = 0 and new.status <> 0 and old.work_id is not null
begin
    select raise(ignore)
    where (select o.last_id from boxcar_join_outcome o where o.join_id = old.join_id and o.first_id <= old.work_id
           order by o.first_id desc limit 1) >= old.work_id;
    insert into boxcar_join_outcome (join_id, first_id, last_id, status)
    values (old.join_id, old.work_id, old.work_id, new.status);
end;
-- The message has come of a member that was reported by hand.
create trigger boxcar_join_member_on_known after update of work_id on boxcar_join_member
when old.work_id is null and new.work_id is not null and new.status <> 0
begin
    insert into boxcar_join_outcome (join_id, first_id, last_id, status)
    values (new.join_id, new.work_id, new.work_id, new.status);
end;
-- Programs of version 3 remove joins with their members only.
create trigger boxcar_join_on_delete after delete on boxcar_join
begin
    delete from boxcar_join_outcome where join_id = old.join_id;
end;
