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
