-- The store itself: what it is, its settings, its counters.

-- One row about the store itself. era, system_identifier and message_oid say to which cluster
-- and table the transaction ids in message belong: after a dump and restore or a logical copy
-- they are foreign (see functions/public/admin/adopt.sql).
create table :"schema".store (
    singleton boolean primary key default true check (singleton),
    schema_version int not null,
    oldest_program int not null,
    functions_digest text,
    era smallint not null default 1,
    system_identifier text not null,
    message_oid oid not null,
    created_at timestamptz not null default now());
-- A server run by somebody else may refuse to tell its number: unknown (see functions/admin/_is_own.sql).
do $do$
declare
    identifier text := 'unknown';
begin
    if has_function_privilege('pg_control_system()', 'execute') then
        select c.system_identifier::text into identifier from pg_control_system() c;
    end if;
    insert into :"schema".store (schema_version, oldest_program, system_identifier, message_oid)
    values (9, 1, identifier, ':"schema".message'::regclass);
end $do$;

-- Settings that differ from their defaults. Some are texts; their number is 0.
create table :"schema".setting (
    name text primary key,
    number double precision not null,
    text text);

-- Counters of what is done, per topic. Acks append to tally_delta (no index, no contention),
-- maintenance folds it into tally.
create table :"schema".tally (
    box smallint not null,
    topic text collate "C" not null,
    done bigint not null,
    primary key (box, topic));
create table :"schema".tally_delta (
    first_id bigint not null,
    last_id bigint not null,
    box smallint not null)
    with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
