-- What makes every path fast.

-- Enqueueing. Two flags, read as sleeper_flag is (pg_sequence_last_value): each saves most messages a look through an index.

-- Whether a member of a join may wait for a message that does not exist yet (_attach, _settle_joins).
create sequence :"schema".awaited_flag minvalue 0;
-- Whether a message may be there under the id that programs of version 9 give to its key (_note_old_keys).
create sequence :"schema".old_key_flag minvalue 0;
do $do$
begin
    perform setval(':"schema".awaited_flag', 1) from :"schema".join_member m where m.work_id is null limit 1;
    perform setval(':"schema".old_key_flag', 1) from :"schema".message m limit 1;
end $do$;

-- Upkeep. When a round of it ran last (_maintain), null = never since `since`, when this table was made.
create table :"schema".upkeep (
    singleton boolean primary key default true check (singleton),
    since timestamptz not null default now(),
    ran_at timestamptz);
insert into :"schema".upkeep default values;

-- Identity. Where the server does not tell its own number, this row tells whether the log is in the cluster where it was written: it
-- holds the number of the transaction that wrote it, which the server keeps with the row, too (xmin). A dump, or a logical copy,
-- brings the first number and gets another one for the second. 0: not known. Only adopt() writes it.
create table :"schema".origin (
    singleton boolean primary key default true check (singleton),
    xid bigint not null default 0);
insert into :"schema".origin default values;
update :"schema".origin o set xid = o.xmin::text::bigint
where exists (select from :"schema".store s where s.message_oid = ':"schema".message'::regclass);
