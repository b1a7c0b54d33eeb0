-- Joins: counters of steps, the messages that are the steps, and the waits that stay until a join has ended.

-- Settings that are texts; their number is 0.
alter table boxcar_setting add column text text;

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

-- Waits that have not ended, and the join each waits for.
create table boxcar_join_wait (
    work_id integer primary key,
    join_id blob not null
);
create index boxcar_join_wait_join on boxcar_join_wait (join_id);

-- Programs that know nothing of joins may work beside those that do. What they ack or bury is marked here
-- and counted later; whoever counts by itself says so.
alter table boxcar_finished add column counted integer not null default 0;
alter table boxcar_dead add column counted integer not null default 0;
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
