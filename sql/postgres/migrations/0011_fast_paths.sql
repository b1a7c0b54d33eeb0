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

-- Calls that began before this deployment wait until it has ended, and go on inside a function of version 10. What that
-- calls and is not there any more stays as a function that raises 40001, as in 0010. The next migration can drop these.
do $do$
declare
    f oid;
    definition text;
begin
    for f in
        select p.oid from pg_catalog.pg_proc p
        where p.pronamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = :'schema')
          and p.proname in ('_claim_items', '_claim_fresh', '_sort_fresh', '_pass_over', '_still_skips', '_move_frontier',
                            '_due_streams', '_meet_streams', '_unpark', '_bound_claim', '_lock_streams', '_fresh_streams')
    loop
        definition := pg_catalog.pg_get_functiondef(f);
        execute regexp_replace(left(definition, strpos(definition, 'AS $function$') - 1), 'LANGUAGE \w+', 'LANGUAGE plpgsql')
            || 'as $old$ begin raise exception using errcode = ''40001'', '
            || 'message = ''the schema was upgraded meanwhile; try again''; end $old$';
    end loop;
end $do$;

-- Claims.

-- Messages that claimers came past in the log and that nobody has yet: rows of ids of one topic. A small claim takes
-- a row, or a part of one, and needs no turn. holder: a transaction that has locked these messages, for a claim of its
-- own; they are free again if it rolls back. to_park: they are due later, expire or wait for a join, and somebody is about to
-- cancel them; if he rolls back they are parked.
create table :"schema".pool (
    box smallint not null,
    place bigint generated always as identity (cache 1),
    holder xid8,
    to_park boolean not null default false,
    size int not null,   -- how many ids
    topic text collate "C" not null,
    items int8multirange not null,
    primary key (box, place))
    with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index pool_topic on :"schema".pool (box, topic, place) where holder is null;
create index pool_held on :"schema".pool (box, holder) where holder is not null;

-- pool_from: no row of the pool has a place before this.
alter table :"schema".frontier add column pool_from bigint not null default 0;

-- whole: of the streamed lane, claimers have met all that is visible in target (_sort_streams).
alter table :"schema".frontier add column whole boolean not null default false;

-- One number an epoch: makes those of one moment differ, and tells whether another was drawn since (_draw_epoch).
create sequence :"schema".epoch_count;

-- One number a claim that looks for more than the pool: whose turn it is, suspects' or the others'.
create sequence :"schema".outbox_claims;
create sequence :"schema".inbox_claims;

-- When a claim last found nothing but messages in the pool, in milliseconds (_is_quiet).
create sequence :"schema".outbox_quiet minvalue 0;
create sequence :"schema".inbox_quiet minvalue 0;

-- Streams. Their messages stay in the log until they are claimed, and are found there by their key.
-- Those from before the table checked, with a name too long for an index, are cut off, and dead letters (as in _bury_malformed).
-- The table is written anew then, since an index is also made of rows that are not there any more.
do $do$
declare
    fault constant text := 'its topic or its stream is longer than 255 characters';
begin
    if not exists (select from :"schema".message m where m.lane = 1 and char_length(m.stream) > 255) then
        return;
    end if;
    with cut as (
        update :"schema".message m set lane = 2, topic = left(m.topic, 255), stream = left(m.stream, 255)
        where m.lane = 1 and char_length(m.stream) > 255
        returning m.work_id, m.box, m.topic),
    lost as materialized (
        select c.* from cut c
        where not exists (select from :"schema".finished f where c.work_id between f.first_id and f.last_id)
          and not exists (select from :"schema".dead d where d.work_id = c.work_id)),
    noted as (
        insert into :"schema".attempt (work_id, at, retry_count, outcome, error) select l.work_id, now(), 0, 'cancelled', fault from lost l)
    insert into :"schema".dead (work_id, box, reason, died_at, retry_count, crash_count, topic, last_error)
    select l.work_id, l.box, 5, now(), 0, 0, l.topic, fault from lost l;
    alter table :"schema".message add column rewritten double precision default random();
    alter table :"schema".message drop column rewritten;
end $do$;
create index message_stream on :"schema".message (box, stream, work_id) where lane = 1;
-- position: messages of the stream up to this one have been dealt with: they are leased, finished, dead or parked. Those after it
-- are in the log, and only there (unless they left it early, lane 2). Only moved under the turn.
-- epoch: of the lease that holds messages of it which came straight from the log: those after taken_from, where the position was
-- before that claim.
alter table :"schema".stream
    add column position bigint not null default 0, add column taken_from bigint not null default 0, add column epoch bigint;
create index stream_epoch on :"schema".stream (epoch) where epoch is not null;
-- lease.has_parked is true as well where a lease has messages of streams, parked or not.
-- No work id that is visible in target, in base, is larger than target_top, base_top.
-- A transaction with a number from target_fence, base_fence on had none yet when that snapshot was taken, and the work ids that it
-- draws are larger than target_low, base_low. A fence is null if that is not known.
alter table :"schema".frontier
    add column target_top bigint not null default 0, add column base_top bigint not null default 0,
    add column target_low bigint not null default 0, add column base_low bigint not null default 0,
    add column target_fence xid8, add column base_fence xid8;
-- What version 10 has not met yet is parked, as it would have done. From here on streams are read from the log.
do $do$
declare
    top constant bigint := coalesce(pg_sequence_last_value(pg_get_serial_sequence(':"schema".message', 'work_id')), 0);
    f :"schema".frontier;
begin
    for f in select distinct on (x.box) x.* from :"schema".frontier x where x.lane = 1 order by x.box, x.seq desc loop
        if f.seq = 0 and not exists (select from :"schema".message m where m.lane = 1) then   -- nothing is late
            update :"schema".frontier x set target_fence = '0', base_fence = '0' where x.box = f.box and x.lane = 1;
            continue;
        end if;
        with met as (
            insert into :"schema".parked (work_id, box, available_at, expires_at, topic, stream)
            select m.work_id, m.box, greatest(m.due_at, m.created_at), m.expires_at, m.topic, m.stream from :"schema".message m
            where m.box = f.box and m.lane = 1 and m.era = f.era and m.xid >= pg_snapshot_xmin(f.base)
              and not pg_visible_in_snapshot(m.xid, f.base)
              and not (pg_visible_in_snapshot(m.xid, f.target) and (m.xid, m.work_id) <= (f.position_xid, f.position_id))
              and m.work_id not in (select k.work_id from :"schema".frontier_skip k)
            returning box, stream)
        insert into :"schema".stream as s (box, key, available_at) select distinct m.box, m.stream, now() from met m
        on conflict (box, key) do update set available_at = least(s.available_at, excluded.available_at), topic = null
            where s.available_at is not null;
        f.seq := f.seq + 1;
        f.base := pg_current_snapshot();
        f.target := f.base;
        f.position_xid := '0';
        f.position_id := 0;
        f.whole := true;
        f.base_top := top;
        f.target_top := top;
        f.base_low := top;
        f.target_low := top;
        insert into :"schema".frontier select f.*;
    end loop;
    update :"schema".stream s set position = top, taken_from = top;
end $do$;
alter table :"schema".stream alter column position drop default, alter column taken_from drop default;

-- A message that leaves the straight path before a claimer met it (buried, or claimed inside somebody's transaction) is
-- put into lane 2, which no frontier passes. It had a row in frontier_skip before.
update :"schema".message m set lane = 2 where m.work_id in (select k.work_id from :"schema".frontier_skip k);
-- The view of fresh messages needs neither from now on; it is made again with the others.
create or replace view :"schema"._fresh as select m.* from :"schema".message m where false;
drop table :"schema".frontier_skip;
alter table :"schema".frontier drop column skip, drop column suspects_next;

-- What is to be done when a transaction ends that has claimed: these messages leave these rows of the pool. noted_at: see
-- _is_ending.
alter table :"schema".end_note add column places bigint[], add column items int8multirange,
    add column noted_at timestamptz not null default clock_timestamp();
drop function if exists :"schema"._note_end(smallint, boolean);
-- These have a parameter more now: a call as before means the same.
drop function if exists :"schema".outbox_claim(uuid, interval, int, text[]);
drop function if exists :"schema".inbox_claim(uuid, interval, int, text[]);
drop function if exists :"schema"._claim_by_topics(smallint, uuid, interval, int, text[]);
drop function if exists :"schema"._before_claim(smallint);
drop function if exists :"schema"._claim_numbered(
    smallint, uuid, interval, int, text[], text[], boolean, boolean, bigint, boolean);

-- Functions of version 10 that nobody calls any more: others do what they did.
drop function if exists :"schema"._check_inbox_object(jsonb, text);
drop function if exists :"schema"._bound_claim(smallint, int8multirange, bigint, timestamptz);
drop function if exists :"schema"._due_streams(
    smallint, int, boolean, timestamptz, timestamptz, text[], text[], uuid, text);
drop function if exists :"schema"._enqueue_object(jsonb, text);
drop function if exists :"schema"._lock_streams(smallint, int8multirange);
drop function if exists :"schema"._may_share(uuid, bigint);
drop function if exists :"schema"._pass_over(bigint[]);
drop function if exists :"schema"._row_estimate(text);
drop function if exists :"schema"._sort_fresh(
    :"schema".frontier, bigint[], int, timestamptz, text[], text[], text, boolean);
drop function if exists :"schema"._still_skips(int8multirange);
drop function if exists :"schema"._stream_resume(smallint, text, boolean);
drop function if exists :"schema"._stream_skip(smallint, text);
drop function if exists :"schema"._take_any(smallint, uuid, int8multirange);
drop function if exists :"schema"._take_lane(uuid, int);
drop function if exists :"schema"._try_follow_joins(uuid[], timestamptz);
drop function if exists :"schema"._try_lock(uuid[], bigint[]);
-- These have other parameters now.
drop function if exists :"schema"._claim_fresh(:"schema".frontier, int, timestamptz, text[], text[], text, boolean);
drop function if exists :"schema"._claim_heads(
    smallint, bigint, int, boolean, timestamptz, timestamptz, text[], text[], uuid, text, boolean);
drop function if exists :"schema"._claim_items(smallint, uuid, interval, int, text[], text[], boolean, bigint);
drop function if exists :"schema"._claim_side(
    smallint, bigint, int, boolean, boolean, timestamptz, timestamptz, text[], text[], uuid, text, boolean);
drop function if exists :"schema"._claim_suspect(
    smallint, bigint, timestamptz, timestamptz, text[], text[], boolean, uuid, text, boolean);
drop function if exists :"schema"._enqueue_objects(smallint, jsonb);
drop function if exists :"schema"._meet_streams(smallint, text[], text[], bigint[], int, timestamptz);
drop function if exists :"schema"._move_frontier(:"schema".frontier, :"schema".frontier, boolean, timestamptz);
drop function if exists :"schema"._unpark(smallint, bigint[], timestamptz);
