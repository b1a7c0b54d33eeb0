/* Creating the tables and bringing them up to date, in one transaction that looks again at the
 * version once it has its turn: any number of processes may do this at once. */
#include "deploy.h"

#include <string.h>

#include "embedded.h"
#include "parts.h"
#include "store/sqlite/connection/connection.h"
#include "store/sqlite/connection/transaction.h"

/* The oldest program, by its schema version, that understands a store which this one makes. A store that is
 * upgraded admits those that it admitted before: they may be running. */
#define OLDEST_PROGRAM 11

struct schema {
    int version; /* 0 = no tables */
    int oldest_program;
};

static boxcar_status schema_read(struct sqlite_store *store, struct schema *ret_schema, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_SCHEMA_READ);
    bool found = false;
    boxcar_status status;

    *ret_schema = (struct schema){0};
    if (query.rc == SQLITE_ERROR) /* there is no such table */
        return sqlite_check_empty(store, err);
    status = query_step(&query, &found, err);
    if (status != BOXCAR_OK)
        return status;
    if (!found)
        return sqlite_check_empty(store, err);
    ret_schema->version = (int)query_get_int(&query, 0);
    ret_schema->oldest_program = (int)query_get_int(&query, 1);
    return BOXCAR_OK;
}

static boxcar_status check_version(struct sqlite_store *store, const struct schema *schema,
                                   boxcar_error *err) {
    if (schema->version == 0)
        return sqlite_error_not_deployed(store, err);
    if (schema->oldest_program > STORE_SCHEMA_VERSION)
        return error_set(
            err, BOXCAR_E_VERSION,
            "%s has schema version %d and wants programs of version %d or newer; this one has %d: "
            "use a newer Boxcar",
            store->base.id, schema->version, schema->oldest_program, STORE_SCHEMA_VERSION);
    if (store_check_upgradable(schema->version, err) != BOXCAR_OK)
        return BOXCAR_E_VERSION;
    if (schema->version < STORE_SCHEMA_VERSION)
        return error_set(
            err, BOXCAR_E_VERSION,
            "%s has schema version %d, older than this program's %d: run `boxcar init --store %s`",
            store->base.id, schema->version, STORE_SCHEMA_VERSION, store->base.id);
    return BOXCAR_OK;
}

/* Comparing topics by bytes, as ranges of an index, needs UTF-8. */
static boxcar_status check_encoding(struct sqlite_store *store, boxcar_error *err) {
    sqlite3_stmt *stmt = NULL;
    bool utf8 = false;
    int rc = sqlite3_prepare_v2(store->db, "pragma encoding", -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        utf8 = strcmp((const char *)sqlite3_column_text(stmt, 0), "UTF-8") == 0;
    sqlite3_finalize(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return sqlite_error(store, rc, err);
    if (!utf8)
        return error_set(err, BOXCAR_E_UNSUPPORTED,
                         "%s stores text as UTF-16: Boxcar needs a database in UTF-8", store->base.id);
    return BOXCAR_OK;
}

static boxcar_status check(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct schema schema;
    boxcar_status status = schema_read(store, &schema, err);

    (void)context;
    if (status == BOXCAR_OK)
        status = check_version(store, &schema, err);
    return status == BOXCAR_OK ? check_encoding(store, err) : status;
}

boxcar_status sqlite_check_deployed(struct sqlite_store *store, boxcar_error *err) {
    return sqlite_transaction(store, ACCESS_READ, check, NULL, err);
}

/* ---- applying ---- */

struct deploying {
    boxcar_deployment deployment;
    bool needed;
    int oldest_program; /* that the store admits */
};

/* "migrations/0001_message.sql" is number 1; anything else, a view, has none. */
static int migration_number(const struct sql_file *file) {
    static const char folder[] = "migrations/";

    return strncmp(file->name, folder, sizeof(folder) - 1) == 0 ? atoi(file->name + sizeof(folder) - 1) : 0;
}

static boxcar_status apply_file(struct sqlite_store *store, const struct sql_file *file, boxcar_error *err) {
    int rc = sqlite3_exec(store->db, file->text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? BOXCAR_OK : sqlite_error(store, rc, err);
}

static boxcar_status apply_files(struct sqlite_store *store, int version, int *ret_applied,
                                 boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (const struct sql_file *file = SQL_SQLITE; status == BOXCAR_OK && file->name != NULL; file++) {
        int number = migration_number(file);
        if (number != 0 && number <= version)
            continue;
        status = apply_file(store, file, err);
        *ret_applied += number != 0;
    }
    return status;
}

static boxcar_status write_version(struct sqlite_store *store, int oldest_program, boxcar_error *err) {
    char sql[160];
    int rc;

    sqlite3_snprintf(
        sizeof(sql), sql,
        "insert or replace into boxcar_schema (only_row, version, oldest_program) values (1, %d, %d)",
        STORE_SCHEMA_VERSION, oldest_program);
    rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? BOXCAR_OK : sqlite_error(store, rc, err);
}

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct deploying *deploying = context;
    struct schema schema;
    boxcar_status status = schema_read(store, &schema, err);

    if (status != BOXCAR_OK)
        return status;
    deploying->needed = schema.version < STORE_SCHEMA_VERSION;
    deploying->oldest_program = schema.version == 0 ? OLDEST_PROGRAM : schema.oldest_program;
    deploying->deployment =
        (boxcar_deployment){.schema_version = schema.version, .previous_version = schema.version};
    if (!deploying->needed)
        return check_version(store, &schema, err);
    return store_check_upgradable(schema.version, err);
}

static boxcar_status apply(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct deploying *deploying = context;
    int applied = 0;
    boxcar_status status = look(store, context, err);

    if (status != BOXCAR_OK || !deploying->needed)
        return status;
    status = check_encoding(store, err);
    if (status == BOXCAR_OK)
        status = apply_files(store, deploying->deployment.schema_version, &applied, err);
    if (status == BOXCAR_OK)
        status = write_version(store, deploying->oldest_program, err);
    if (status == BOXCAR_OK) {
        deploying->deployment.schema_version = STORE_SCHEMA_VERSION;
        deploying->deployment.applied = applied;
    }
    return status;
}

boxcar_status sqlite_deploy(struct boxcar_store *base, boxcar_deployment *ret_deployment, boxcar_error *err) {
    struct sqlite_store *store = sqlite_of(base);
    struct deploying deploying = {.needed = false};
    boxcar_status status;

    if (store->borrowed)
        return error_set(
            err, BOXCAR_E_UNSUPPORTED,
            "a borrowed connection cannot deploy: open the file with boxcar_store_open() and deploy");
    status = sqlite_transaction(store, ACCESS_READ, look, &deploying, err);
    if (status == BOXCAR_OK && deploying.needed)
        status = sqlite_transaction(store, ACCESS_WRITE, apply, &deploying, err);
    if (status == BOXCAR_OK && deploying.deployment.schema_version == STORE_SCHEMA_VERSION)
        status = sqlite_repair(store, &deploying.deployment.mended, err);
    if (status == BOXCAR_OK)
        *ret_deployment = deploying.deployment;
    return status;
}
