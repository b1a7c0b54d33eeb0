-- One worker serves both boxes, and messages may be done in stages.

-- A row per worker and box that it serves.
alter table :"schema".instance_row drop constraint instance_row_pkey, add primary key (instance_id, box);

-- Which stages of a message are done: one row for each message that anybody recorded one for, gone with the
-- message. Whoever records none never touches it; flags as in boxcar/message.h.
create table :"schema".stage (
    work_id bigint primary key,
    flags smallint not null)
    with (fillfactor = 80);

-- A retry sees them.
alter type :"schema".claimed_message add attribute stages int;

-- The answer of process_work_batch: what became of everything, and the work that it brought.
create type :"schema".work_batch_result as (
    header jsonb,
    outbox_work :"schema".claimed_message[],
    inbox_work :"schema".claimed_message[]);
