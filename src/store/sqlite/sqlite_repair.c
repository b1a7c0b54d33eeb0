/* What a deployed store lacks, because somebody dropped it: compared with a store in memory that is deployed for the
 * comparison. Indexes, views and triggers are made again. A table is not: an empty one in its place would hide that its
 * rows are gone. */
#include <string.h>

#include "base/memory.h"
#include "embedded.h"
#include "sqlite_store.h"

static void close_model(sqlite3 **model) { sqlite3_close(*model); }

static boxcar_status make_model(struct sqlite_store *store, sqlite3 **ret_model, boxcar_error *err) {
    int rc = sqlite3_open(":memory:", ret_model);

    for (const struct sql_file *file = SQL_SQLITE; rc == SQLITE_OK && file->name != NULL; file++)
        rc = sqlite3_exec(*ret_model, file->text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? BOXCAR_OK
                           : error_set(err, BOXCAR_E_STORE, "%s cannot be compared with a new store: %s", store->base.id,
                                       sqlite3_errmsg(*ret_model));
}

static boxcar_status is_there(struct sqlite_store *store, const char *type, const char *name, bool *ret_there,
                              boxcar_error *err) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->db, "select 1 from sqlite_schema where type = ?1 and name = ?2", -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 1, type, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    *ret_there = rc == SQLITE_ROW;
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? BOXCAR_OK : sqlite_error(store, rc, err);
}

static boxcar_status make_again(struct sqlite_store *store, const char *type, const char *name, const char *text,
                                boxcar_error *err) {
    int rc;

    if (strcmp(type, "table") == 0)
        return error_set(err, BOXCAR_E_STORE, "%s has lost the table %s: restore the file from a backup", store->base.id,
                         name);
    rc = sqlite3_exec(store->db, text, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return sqlite_error(store, rc, err);
    store_log(&store->base, BOXCAR_LOG_WARN, "deploy", NULL, 0, "the %s %s was missing and is made again", type, name);
    return BOXCAR_OK;
}

/* Every object of the model that the store lacks: made again, or only counted. */
static boxcar_status go_through(struct sqlite_store *store, sqlite3 *model, bool repair, int *ret_missing,
                                boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(model,
                                "select type, name, sql from sqlite_schema where sql is not null "
                                "and name like 'boxcar\\_%' escape '\\' order by rowid",
                                -1, &stmt, NULL);

    *ret_missing = 0;
    while (rc == SQLITE_OK && status == BOXCAR_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(stmt, 0);
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        const char *text = (const char *)sqlite3_column_text(stmt, 2);
        bool there = false;

        status = type && name && text ? is_there(store, type, name, &there, err) : error_no_memory(err);
        *ret_missing += !there;
        if (status == BOXCAR_OK && !there && repair)
            status = make_again(store, type, name, text, err);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return status;
}

struct repairing {
    sqlite3 *model;
    int missing;
};

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct repairing *repairing = context;

    return go_through(store, repairing->model, false, &repairing->missing, err);
}

static boxcar_status mend(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct repairing *repairing = context;

    return go_through(store, repairing->model, true, &repairing->missing, err);
}

boxcar_status sqlite_repair(struct sqlite_store *store, boxcar_error *err) {
    CLEANUP(close_model) sqlite3 *model = NULL;
    struct repairing repairing = {0};
    boxcar_status status = make_model(store, &model, err);

    repairing.model = model;
    if (status == BOXCAR_OK)
        status = sqlite_transaction(store, ACCESS_READ, look, &repairing, err);
    if (status != BOXCAR_OK || repairing.missing == 0)
        return status;
    return sqlite_transaction(store, ACCESS_WRITE, mend, &repairing, err);
}
