/* Deployment: one transaction, one at a time (turn.c). Tables change by numbered migrations;
 * functions and views are made anew whenever their texts differ from what the store has. In it only
 * pg_catalog is searched for names, and a schema that is not its deployer's own is refused (trust.c). */
#include "deploy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/uuid.h"
#include "core/limits/limits.h"
#include "objects.h"
#include "steps.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/connection/wait.h"

#define MIGRATION_PREFIX "migrations/"
#define TRIES 5 /* after collisions with other first deployments */

boxcar_status pg_deploy_run(struct pg_store *pg, const char *text, boxcar_error *err) {
    AUTO_FREE char *filled = pg_fill_in(text, pg->schema);

    if (!filled)
        return error_no_memory(err);
    AUTO_RESULT PGresult *result = pg_run_text(pg, filled);
    if (pg_is_success(result) || PQresultStatus(result) == PGRES_EMPTY_QUERY) /* that: only comments */
        return BOXCAR_OK;
    return pg_error_from_result(pg, result, err);
}

boxcar_status pg_deploy_run_buf(struct pg_store *pg, const struct buf *text, boxcar_error *err) {
    return text->failed ? error_no_memory(err) : pg_deploy_run(pg, text->data, err);
}

boxcar_status pg_deploy_ask(struct pg_store *pg, const char *text, char **ret_text, boxcar_error *err) {
    AUTO_FREE char *filled = pg_fill_in(text, pg->schema);

    if (!filled)
        return error_no_memory(err);
    AUTO_RESULT PGresult *result = pg_run_text(pg, filled);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return pg_error_from_result(pg, result, err);
    if (PQnfields(result) != 1 || PQfformat(result, 0) != 0)
        return pg_malformed(pg, "not one text", err);
    *ret_text = NULL;
    if (PQntuples(result) == 0 || PQgetisnull(result, 0, 0))
        return BOXCAR_OK;
    *ret_text = strdup(PQgetvalue(result, 0, 0));
    return *ret_text ? BOXCAR_OK : error_no_memory(err);
}

boxcar_status pg_deploy_ask_buf(struct pg_store *pg, const struct buf *text, char **ret_text,
                                boxcar_error *err) {
    return text->failed ? error_no_memory(err) : pg_deploy_ask(pg, text->data, ret_text, err);
}

/* 0 = it is none. */
static int migration_number(const struct sql_file *file) {
    size_t len = strlen(MIGRATION_PREFIX);

    return strncmp(file->name, MIGRATION_PREFIX, len) == 0 ? atoi(file->name + len) : 0;
}

/* Which functions and views this library brings, with which limits filled in, in 36 characters. */
boxcar_status pg_digest_functions(char ret_digest[BOXCAR_UUID_TEXT_SIZE], boxcar_error *err) {
    AUTO_BUF struct buf all = BUF_INIT;
    uint8_t digest[16];

    for (const struct sql_file *file = SQL_POSTGRES; file->name; file++)
        if (migration_number(file) == 0)
            buf_append_text(&all, file->text);
    for (const struct limit *limit = LIMITS; limit->name; limit++)
        buf_append_format(&all, "%s %" PRId64 "\n", limit->name, limit->value);
    if (all.failed)
        return error_no_memory(err);
    uuid_derive("boxcar:functions:", (boxcar_str){all.data, all.len}, digest);
    uuid_format(digest, ret_digest);
    return BOXCAR_OK;
}

static boxcar_status read_version(struct pg_store *pg, int *ret_version, boxcar_error *err) {
    AUTO_FREE char *found = NULL;
    AUTO_FREE char *version = NULL;

    TRY(pg_deploy_ask(pg,
                      "select 'yes' from pg_class c join pg_namespace n on n.oid = c.relnamespace "
                      "where n.nspname = :'schema' and c.relname = 'store'",
                      &found, err));
    if (found)
        TRY(pg_deploy_ask(pg, "select schema_version::text from :\"schema\".store", &version, err));
    *ret_version = version ? atoi(version) : 0;
    return BOXCAR_OK;
}

static boxcar_status migrate(struct pg_store *pg, int version, int *ret_applied, boxcar_error *err) {
    int applied = 0;

    for (const struct sql_file *file = SQL_POSTGRES; file->name; file++)
        if (migration_number(file) > version) {
            TRY(pg_deploy_run(pg, file->text, err));
            applied++;
        }
    *ret_applied = applied;
    return BOXCAR_OK;
}

/* Our functions are not for everyone; other people's functions in the same schema are none of our
 * business. */
static boxcar_status close_functions(struct pg_store *pg, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;

    buf_append_text(&text, "do $do$ declare f regprocedure; begin for f in select p.oid from pg_proc p "
                           "join pg_namespace n on n.oid = p.pronamespace "
                           "where n.nspname = :'schema' and p.proname in (''");
    for (const struct sql_file *file = SQL_POSTGRES; file->name; file++) {
        boxcar_str name = pg_object_of_file(file);

        if (pg_is_function_file(file))
            buf_append_format(&text, ", '%.*s'", (int)name.len, name.data);
    }
    buf_append_text(&text,
                    ") loop execute format('revoke all on function %s from public', f); end loop; end $do$");
    return pg_deploy_run_buf(pg, &text, err);
}

/* The accesses that roles have, as statements that grant them again, or nothing. A function whose signature
 * changed was dropped with its rights, and new functions have none; but workers of the version before still
 * run. Roles that may not use the schema any more are left out. */
static boxcar_status read_grants(struct pg_store *pg, char **ret_grants, boxcar_error *err) {
    return pg_deploy_ask(
        pg,
        "select string_agg(distinct format('select %I.grant_access(%L, %L)', :'schema', r.rolname, "
        "case p.proname when 'outbox_claim' then 'worker' when 'enqueue' then 'producer' "
        "when '_page' then 'viewer' else 'admin' end), '; ') "
        "from pg_proc p cross join aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee "
        "join pg_namespace n on n.oid = p.pronamespace "
        "where n.nspname = :'schema' and p.proname in ('outbox_claim', 'enqueue', '_page', 'grant_access') "
        "and a.grantee <> p.proowner and has_schema_privilege(a.grantee, n.oid, 'usage')",
        ret_grants, err);
}

/* The schema has a function of this name, made by hand, with another result or other names of parameters. */
static boxcar_status explain_function(const struct sql_file *file, boxcar_status status, boxcar_error *err) {
    char why[sizeof(err->message)];

    if (!err || strcmp(err->sqlstate, "42P13") != 0)
        return status;
    memcpy(why, err->message, sizeof(why));
    return error_set(err, status,
                     "%s is not made again: %.300s: drop that function, then run `boxcar init` again",
                     file->name, why);
}

/* The server does not check bodies here: functions may call each other in any order then. */
static boxcar_status make_all_functions(struct pg_store *pg, const char *digest, boxcar_error *err) {
    AUTO_BUF struct buf remember = BUF_INIT;

    TRY(pg_deploy_run(pg, "set local check_function_bodies = off", err));
    for (const struct sql_file *file = SQL_POSTGRES; file->name; file++)
        if (migration_number(file) == 0) {
            boxcar_status status = pg_deploy_run(pg, file->text, err);

            if (status != BOXCAR_OK)
                return explain_function(file, status, err);
        }
    TRY(close_functions(pg, err));
    buf_append_format(&remember, "update :\"schema\".store set functions_digest = '%s', schema_version = %d",
                      digest, STORE_SCHEMA_VERSION);
    return pg_deploy_run_buf(pg, &remember, err);
}

static boxcar_status make_functions(struct pg_store *pg, int *mended, boxcar_error *err) {
    AUTO_FREE char *known = NULL;
    char digest[BOXCAR_UUID_TEXT_SIZE];

    TRY(pg_digest_functions(digest, err));
    TRY(pg_deploy_ask(pg, "select functions_digest from :\"schema\".store", &known, err));
    bool deployed = known && strcmp(known, digest) == 0;
    TRY(pg_repair(pg, &deployed, mended, err));
    if (!deployed)
        TRY(make_all_functions(pg, digest, err));
    return pg_repair_triggers(pg, mended, err);
}

/* A database without an encoding keeps any bytes as text, and then refuses to send them as UTF-8: one bad
 * topic would stop every claim. */
static boxcar_status check_encoding(const struct pg_store *pg, boxcar_error *err) {
    if (!pg_is_sql_ascii(pg->conn))
        return BOXCAR_OK;
    return error_set(err, BOXCAR_E_UNSUPPORTED,
                     "the database has the encoding SQL_ASCII, so the server does not check texts: use a "
                     "database with the "
                     "encoding UTF8 (create database ... encoding 'UTF8' template template0)");
}

/* Creating a schema needs a right of its own, so it is not even tried when the schema exists. */
static boxcar_status make_schema(struct pg_store *pg, boxcar_error *err) {
    AUTO_FREE char *found = NULL;

    TRY(pg_deploy_ask(pg, "select 'yes' from pg_namespace where nspname = :'schema'", &found, err));
    if (found)
        return BOXCAR_OK;
    boxcar_status status = pg_deploy_run(pg, "create schema :\"schema\"", err);
    if (status == BOXCAR_E_DENIED)
        return error_set(
            err, status,
            "there is no schema \"%s\", and this role may not create one: have the database's owner run "
            "create schema \"%s\" authorization this role, or grant create on database",
            pg->schema, pg->schema);
    return status;
}

/* Brings tables, functions and views of version `previous` up to date. */
static boxcar_status upgrade(struct pg_store *pg, int previous, boxcar_deployment *deployment,
                             boxcar_error *err) {
    AUTO_FREE char *grants = NULL;

    TRY(read_grants(pg, &grants, err));
    TRY(migrate(pg, previous, &deployment->applied, err));
    TRY(make_functions(pg, &deployment->mended, err));
    if (grants)
        TRY(pg_deploy_run(pg, grants, err));
    deployment->schema_version = STORE_SCHEMA_VERSION;
    return BOXCAR_OK;
}

static boxcar_status deploy_in_transaction(struct pg_store *pg, bool *ret_turn,
                                           boxcar_deployment *ret_deployment, boxcar_error *err) {
    int previous = 0;

    TRY(pg_deploy_run(pg, "set local search_path = pg_catalog, pg_temp", err));
    TRY(pg_deploy_bound_waits(pg, err));
    TRY(make_schema(pg, err));
    TRY(pg_trust_schema(pg, err));
    TRY(pg_deploy_take_turn(pg, ret_turn, err));
    TRY(read_version(pg, &previous, err));
    if (previous == 0) {
        TRY(check_encoding(pg, err));
        TRY(pg_check_empty(pg, err));
    }
    TRY(store_check_upgradable(previous, err));
    if (previous > 0 && previous < STORE_SCHEMA_VERSION)
        TRY(pg_deploy_lock(pg, err));
    boxcar_deployment deployment = {.schema_version = previous, .previous_version = previous};
    if (previous <= STORE_SCHEMA_VERSION)
        TRY(upgrade(pg, previous, &deployment, err));
    TRY(pg_deploy_run(pg, "select :\"schema\".adopt()", err));
    *ret_deployment = deployment;
    return BOXCAR_OK;
}

/* In a transaction of its own, because the transaction of an upgrade blocks the table of messages for all
 * others. Every deployment asks for it, because the one that upgraded may have ended before this step; the
 * store knows when it is done. */
static boxcar_status bury_malformed(struct pg_store *pg, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, PG_BURY_MALFORMED, &result, err));
    if (pg_get_int8(result, 0, 0) > 0)
        store_log(&pg->base, BOXCAR_LOG_WARN, "deploy", NULL, 0,
                  "%lld messages with a topic or a stream of more than 255 characters are dead letters now",
                  (long long)pg_get_int8(result, 0, 0));
    return BOXCAR_OK;
}

static boxcar_status deploy_once(struct pg_store *pg, bool *ret_turn, boxcar_deployment *ret_deployment,
                                 boxcar_error *err) {
    boxcar_status status = pg_deploy_run(pg, "begin isolation level read committed", err);

    if (status == BOXCAR_OK)
        status = deploy_in_transaction(pg, ret_turn, ret_deployment, err);
    if (status == BOXCAR_OK)
        return pg_deploy_run(pg, "commit", err);
    (void)pg_deploy_run(pg, "rollback", NULL);
    return status;
}

/* Others may make the same schema at the same time. When one of them is done there is a table to lock. */
static boxcar_status deploy_among_others(struct pg_store *pg, boxcar_deployment *ret_deployment,
                                         boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;

    for (int left = TRIES - 1;; left--) {
        bool has_turn = false;
        boxcar_status status = deploy_once(pg, &has_turn, ret_deployment, &why);

        if (status == BOXCAR_OK)
            return BOXCAR_OK;
        if (left == 0 || has_turn || !pg_error_is(&why, PG_DEPLOY_COLLIDED))
            return pg_error_pass(pg_deploy_name_blockers(pg, status, &why), &why, err);
    }
}

static boxcar_status deploy(struct pg_store *pg, boxcar_deployment *ret_deployment, boxcar_error *err) {
    boxcar_deployment deployment = {0};

    TRY(pg_ready(pg, err));
    TRY(deploy_among_others(pg, &deployment, err));
    TRY(pg_check_version(pg, err));
    if (deployment.schema_version == STORE_SCHEMA_VERSION)
        TRY(bury_malformed(pg, err));
    *ret_deployment = deployment;
    return BOXCAR_OK;
}

/* Migrations of large tables take their time, and so does a deployment that waits for another one. */
boxcar_status pg_deploy(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);

    if (pg_is_joined(pg))
        return error_set(err, BOXCAR_E_UNSUPPORTED,
                         "a borrowed connection cannot deploy: open a store of its own");
    pg->pace = PG_LONG;
    boxcar_status status = deploy(pg, ret_deployment, err);
    pg->pace = PG_ORDINARY;
    return status;
}

boxcar_status pg_check_version(struct pg_store *pg, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status = pg_ask(pg, PG_STORE_INFO, &result, err);

    if (status != BOXCAR_OK)
        return pg_explain_absence(pg, status, err);
    int version = pg_get_int4(result, 0, 0), oldest = pg_get_int4(result, 0, 1);
    TRY(store_check_upgradable(version, err));
    if (version < STORE_SCHEMA_VERSION)
        return error_set(err, BOXCAR_E_VERSION,
                         "the store has schema version %d, this program needs %d: run `boxcar init`", version,
                         STORE_SCHEMA_VERSION);
    if (oldest > STORE_SCHEMA_VERSION)
        return error_set(err, BOXCAR_E_VERSION,
                         "the store has schema version %d and accepts programs from version %d on, "
                         "this one has %d: upgrade the program",
                         version, oldest, STORE_SCHEMA_VERSION);
    char *id;
    TRY(pg_identify(pg, &id, err));
    free(pg->base.id);
    pg->base.id = id;
    return BOXCAR_OK;
}
