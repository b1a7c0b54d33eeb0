-- Subscriptions: further readers of a box (docs/decisions/0046-readers-of-the-log.md).

-- Readers. 0 is the main reader of the outbox, 1 that of the inbox; subscriptions have numbers from 2 on, which are never used
-- again. The column `box` of what a reader knows (frontier, pool, lease, parked, stream, dead, finished, tally and their siblings) is the
-- number of the reader. message.box is the box in which a message lies.
create table :"schema".reader (
    number smallint primary key,
    name text collate "C" unique,   -- null: it was removed, and upkeep removes what it knew
    box smallint not null,
    patterns text[],                -- null: all
    "only" boolean not null default false,   -- the main reader does not get what this one wants
    paused_at timestamptz,          -- null: it runs
    created_at timestamptz not null default now(),
    start_at text,                  -- what was asked
    max_lag_ms bigint,
    max_lag_count bigint,
    rewound_at timestamptz,
    removed_at timestamptz);
insert into :"schema".reader (number, name, box) values (0, 'outbox', 0), (1, 'inbox', 1);
-- Its last value is null as long as there was no subscription: then nothing below costs anything.
create sequence :"schema".reader_number as smallint minvalue 2;

create table :"schema".reader_rewind (
    number smallint not null,
    at timestamptz not null,
    target text not null);
alter table :"schema".reader_rewind replica identity full;

-- What a reader wants, from where on: a row for each lane and change. The last one whose frontier a message has not passed
-- counts for the message. What lies before the first one is not for a subscription, and is for a main reader (_wants).
create table :"schema".reader_change (
    number smallint not null,
    lane smallint not null,
    step int not null,
    era smallint not null,
    base pg_snapshot not null,
    target pg_snapshot not null,
    position_xid xid8 not null,
    position_id bigint not null,
    exact text[],
    prefixes text[],
    but_exact text[],
    but_prefixes text[],
    from_time timestamptz,
    from_id bigint,
    primary key (number, lane, step));

-- Messages that a reader has taken, or that were buried for it, before its frontier came to them: its claimers pass over them.
-- (While a box had one reader, such messages were put into lane 2.) Upkeep removes the row when the frontier has passed.
create table :"schema".reader_skip (
    box smallint not null,
    work_id bigint not null,
    primary key (box, work_id))
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- Whether there may be any; set as awaited_flag is (see 0011).
create sequence :"schema".skip_flag minvalue 0;
-- For whom open transactions hold messages (_note_holder).
create sequence :"schema".holder_0 minvalue 0;
create sequence :"schema".holder_1 minvalue 0;
create sequence :"schema".holder_2 minvalue 0;
create sequence :"schema".holder_3 minvalue 0;
create sequence :"schema".holder_4 minvalue 0;
create sequence :"schema".holder_5 minvalue 0;
create sequence :"schema".holder_6 minvalue 0;
create sequence :"schema".holder_7 minvalue 0;
create sequence :"schema".holder_8 minvalue 0;
create sequence :"schema".holder_9 minvalue 0;
create sequence :"schema".holder_10 minvalue 0;
create sequence :"schema".holder_11 minvalue 0;
create sequence :"schema".holder_12 minvalue 0;
create sequence :"schema".holder_13 minvalue 0;
create sequence :"schema".holder_14 minvalue 0;
create sequence :"schema".holder_15 minvalue 0;

-- What claimers know of their reader without a look: log_box: the box of its messages. choosy: it does not want all of them.
-- in_exact, in_prefixes: the topics that it wants (both null: all); but_exact, but_prefixes: those that a subscription took away from it;
-- from_time, from_id: nothing that was stored before.
alter table :"schema".frontier
    add column log_box smallint, add column choosy boolean not null default false,
    add column in_exact text[], add column in_prefixes text[], add column but_exact text[], add column but_prefixes text[],
    add column from_time timestamptz, add column from_id bigint;
update :"schema".frontier f set log_box = f.box;
alter table :"schema".frontier alter column log_box set not null;

-- What was keyed by work id.
alter table :"schema".parked drop constraint parked_pkey, add constraint parked_pkey primary key (work_id, box);
alter table :"schema".dead drop constraint dead_pkey, add constraint dead_pkey primary key (work_id, box);
alter table :"schema".finished drop constraint finished_pkey, add constraint finished_pkey primary key (box, first_id);
-- 0: of the main reader of the message's box, else of this subscription.
alter table :"schema".attempt add column reader smallint not null default 0;

-- How far the removal of done messages has come, for boxes with several readers (_purge_ended): the work id, how many seconds the
-- round through the log has taken so far, and when the next one may begin.
alter table :"schema".upkeep_look add column ended_from bigint not null default 0, add column ended_cost double precision not null default 0,
    add column ended_at timestamptz;

-- These have a parameter more now: a call as before means the same.
do $do$
declare
    f oid;
begin
    for f in
        select p.oid from pg_catalog.pg_proc p
        where p.pronamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = :'schema')
          and p.proname ~ '^(outbox|inbox)_(claim|ack|abandon|defer|fail|renew|reap|record_stages|cancel)$'
           or p.pronamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = :'schema')
          and p.proname in ('stream_resume', 'stream_skip', 'dead_replay', 'dead_purge', '_finished', '_window', '_waits_since',
                            '_read_items', '_instances')
    loop
        execute 'drop function ' || f::regprocedure;
    end loop;
end $do$;
