/* Creating the tables and bringing them up to date, in one transaction that looks again at the
 * version once it has its turn: any number of processes may do this at once. */
#include "deploy.h"

#include <string.h>

#include "base/utf8.h"
#include "embedded.h"
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
    bool has_table = query.rc != SQLITE_ERROR;
    if (has_table && query_next(&query)) {
        *ret_schema = (struct schema){(int)query_get_int(&query, 0), (int)query_get_int(&query, 1)};
        return BOXCAR_OK;
    }
    *ret_schema = (struct schema){0};
    if (has_table)
        TRY(query_status(&query, err));
    return sqlite_check_empty(store, err);
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
    AUTO_QUERY struct query query = query_once(store, "pragma encoding");
    bool utf8 = query_next(&query) && str_equal(query_get_text(&query, 0), BOXCAR_STR("UTF-8"));
    TRY(query_status(&query, err));
    if (!utf8)
        return error_set(err, BOXCAR_E_UNSUPPORTED,
                         "%s stores text as UTF-16: Boxcar needs a database in UTF-8", store->base.id);
    return BOXCAR_OK;
}

static boxcar_status check(struct sqlite_store *store, void *context, boxcar_error *err) {
    (void)context;
    struct schema schema;
    TRY(schema_read(store, &schema, err));
    TRY(check_version(store, &schema, err));
    return check_encoding(store, err);
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

static boxcar_status apply_files(struct sqlite_store *store, boxcar_deployment *deployment,
                                 boxcar_error *err) {
    for (const struct sql_file *file = SQL_SQLITE; file->name != NULL; file++) {
        int number = migration_number(file);
        if (number != 0 && number <= deployment->schema_version)
            continue;
        TRY(sqlite_exec(store, file->text, err));
        deployment->applied += number != 0;
    }
    return BOXCAR_OK;
}

static boxcar_status write_version(struct sqlite_store *store, int oldest_program, boxcar_error *err) {
    char sql[160];
    sqlite3_snprintf(
        sizeof(sql), sql,
        "insert or replace into boxcar_schema (only_row, version, oldest_program) values (1, %d, %d)",
        STORE_SCHEMA_VERSION, oldest_program);
    return sqlite_exec(store, sql, err);
}

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct deploying *deploying = context;
    struct schema schema;
    TRY(schema_read(store, &schema, err));
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
    TRY(look(store, context, err));
    if (!deploying->needed)
        return BOXCAR_OK;
    TRY(check_encoding(store, err));
    TRY(apply_files(store, &deploying->deployment, err));
    TRY(write_version(store, deploying->oldest_program, err));
    deploying->deployment.schema_version = STORE_SCHEMA_VERSION;
    return BOXCAR_OK;
}

boxcar_status sqlite_deploy(struct boxcar_store *base, boxcar_deployment *ret_deployment, boxcar_error *err) {
    struct sqlite_store *store = sqlite_of(base);
    struct deploying deploying = {.needed = false};
    if (store->borrowed)
        return error_set(
            err, BOXCAR_E_UNSUPPORTED,
            "a borrowed connection cannot deploy: open the file with boxcar_store_open() and deploy");
    TRY(sqlite_transaction(store, ACCESS_READ, look, &deploying, err));
    if (deploying.needed)
        TRY(sqlite_transaction(store, ACCESS_WRITE, apply, &deploying, err));
    if (deploying.deployment.schema_version == STORE_SCHEMA_VERSION)
        TRY(sqlite_repair(store, &deploying.deployment.mended, err));
    *ret_deployment = deploying.deployment;
    return BOXCAR_OK;
}
