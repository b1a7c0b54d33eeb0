-- What single users must not be able to do to everybody else, and what the trial of version 9 showed.

-- Turns and frontiers.

-- The deployment has locked all tables: calls that begin now wait until it has ended. They may already be inside a function
-- of version 9, and go on there afterwards. What that calls and is not there any more stays as a function that raises
-- 40001, as for any call that met a change and is to be repeated. The next migration can drop these.
do $do$
declare
    f oid;
    definition text;
begin
    for f in
        select p.oid from pg_catalog.pg_proc p
        where p.pronamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = :'schema')
          and p.proname in ('_lane_key', '_sort_fresh', '_claim_fresh', '_claim_side', '_claim_suspect', '_claim_heads',
                            '_due_streams', '_fresh_estimate')
    loop
        definition := pg_catalog.pg_get_functiondef(f);
        execute regexp_replace(left(definition, strpos(definition, 'AS $function$') - 1), 'LANGUAGE \w+', 'LANGUAGE plpgsql')
            || 'as $old$ begin raise exception using errcode = ''40001'', '
            || 'message = ''the schema was upgraded meanwhile; try again''; end $old$';
    end loop;
end $do$;

-- A turn is taken by locking one of these, in SHARE UPDATE EXCLUSIVE mode: that takes rights on it, which only the
-- owner has, and costs no more than an advisory lock, which anybody can take. Views, because tables are vacuumed, and
-- vacuum takes the same lock.
create view :"schema".outbox_turn as select 1 as turn where false;
create view :"schema".inbox_turn as select 1 as turn where false;
create view :"schema".event_turn as select 1 as turn where false;

-- Messages that were buried while they lay beyond the frontier: claimers pass over them, and remove their rows here.
-- frontier.skip, where they were kept before, says whether there may be any: empty or everything.
create table :"schema".frontier_skip (
    work_id bigint primary key)
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
insert into :"schema".frontier_skip
select m.work_id
from (select distinct on (f.box, f.lane) f.skip from :"schema".frontier f order by f.box, f.lane, f.seq desc) f,
     unnest(f.skip) r join :"schema".message m on m.work_id >= lower(r) and m.work_id < upper(r);
delete from :"schema".frontier f
where f.seq < (select max(x.seq) from :"schema".frontier x where x.box = f.box and x.lane = f.lane);
update :"schema".frontier f set skip = '{(,)}' where f.skip <> '{}';

-- What is to be done when a transaction ends, on servers that have prepared transactions (_note_end). The body of the
-- trigger comes with the functions.
create unlogged table :"schema".end_note (
    box smallint not null,
    has_turn boolean not null);
create function :"schema"._at_end() returns trigger language plpgsql as $$ begin return null; end $$;
create constraint trigger end_note_at_end after insert on :"schema".end_note
    deferrable initially deferred for each row execute function :"schema"._at_end();

-- Streams and upkeep. A server that publishes all tables refuses deletes from a table without a replica identity. These
-- are appended on hot paths: a key would cost each append an index entry, the whole row costs only whoever publishes.
alter table :"schema".attempt replica identity full;
alter table :"schema".tally_delta replica identity full;
alter table :"schema".stream_note replica identity full;
alter table :"schema".stream_violation replica identity full;
create index stream_violation_at on :"schema".stream_violation (box, at);
-- Locked by the one upkeep that folds counters and purges, as turns are.
create view :"schema".outbox_upkeep as select 1 as turn where false;
create view :"schema".inbox_upkeep as select 1 as turn where false;

-- Instances and waits.

-- When registered instances were last heard of apart from their heartbeats: mostly one row each, several while open
-- transactions of one instance hold each other's. The key grows with every change, so the newest row is found at once,
-- however many dead versions an old snapshot keeps alive.
create table :"schema".instance_sign (
    instance_id uuid not null,
    seen_at timestamptz not null)
    with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index instance_sign_newest on :"schema".instance_sign (instance_id, seen_at);
alter table :"schema".instance_sign replica identity full;

-- Waits for joins are parked in a place of their own: a crash_count of -1 keeps them out of every index that claims of
-- other topics look through. Those that were made by join_wait are there from the beginning, in a lane of the log (2)
-- that no frontier passes.
create index parked_wait on :"schema".parked (box, topic, available_at, work_id)
    where epoch is null and stream is null and crash_count < 0;
update :"schema".parked p set crash_count = -1
where p.box = 0 and p.stream is null and p.topic = coalesce((
    select s.text from :"schema".setting s where s.name = 'join_wait_topic'), 'join.wait');

-- Claims. The number that the claimer gave to the claim, so that it can give back what it was leased by one whose answer
-- was lost; null = none.
alter table :"schema".lease add column claim_number bigint;
drop function if exists :"schema"._claim_items(smallint, uuid, interval, int, text[], text[], boolean);

-- Limits of what is stored.
--
-- The functions that write here check everything (_refuse_message and its siblings) and say what is wrong. This is for
-- what they might forget, and would do most harm: a text that is too long for an index makes every claim fail that
-- meets it. It is short, because each statement that inserts reads and plans it anew: these two
-- conditions cost a single enqueue a fifth more, eleven tripled its cost. Not valid: rows that are there already stay.
alter table :"schema".message add constraint message_limits
    check (octet_length(topic) <= 1020 and octet_length(stream) <= 1020) not valid;
-- Whether those were looked through, and what was too long among them buried (_bury_malformed).
alter table :"schema".store add column are_old_messages_checked boolean not null default false;
alter table :"schema".event_row add constraint event_row_limits
    check (octet_length(stream) <= 1020 and octet_length(type) <= 1020) not valid;
alter table :"schema".join_row add constraint join_row_limits
    check (expected_steps > 0 and octet_length(grouping_key) <= 1020) not valid;
alter table :"schema".inbox_key add constraint inbox_key_limits
    check (octet_length(source) <= 1020 and octet_length(external_id) <= 1020) not valid;

-- Keys that are free again once their message has ended ("unique"): which message has each, looked up when a message
-- wants it. Nothing is written when a message ends; whoever removes it removes the key (_forget_keys). A message
-- remembers its key, so that a replay can take it back. key_id derives from topic and key.
alter table :"schema".message add column unique_key uuid;
create table :"schema".unique_key (
    key_id uuid primary key,
    message_id uuid not null)
    with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);

-- These have a parameter more now: a call as before means the same.
drop function if exists :"schema".enqueue(
    text, text, text, timestamptz, interval, text, jsonb, uuid, text, int, uuid);
drop function if exists :"schema"._dead_replay(smallint, bigint[], text);

-- Counters: _stats says which numbers are estimates.
drop function if exists :"schema"._stats(smallint, boolean);
