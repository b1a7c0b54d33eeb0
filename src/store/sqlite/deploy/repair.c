/* Makes parts of a deployed store again that were dropped or changed. */
#include "base/memory.h"
#include "parts.h"
#include "store/sqlite/connection/connection.h"
#include "store/sqlite/connection/transaction.h"

static boxcar_status error_lost(struct sqlite_store *store, const struct sqlite_part *part,
                                boxcar_error *err) {
    if (part->feature)
        return error_set(err, BOXCAR_E_STORE,
                         "%s: the table %s has lost its %s: restore the file from a backup", store->base.id,
                         part->name, part->feature);
    return error_set(err, BOXCAR_E_STORE, "%s has lost the table %s: restore the file from a backup",
                     store->base.id, part->name);
}

/* Before anything is made, so that nothing is reported which is rolled back then. */
static boxcar_status count(struct sqlite_store *store, const struct sqlite_part *part, void *context,
                           boxcar_error *err) {
    int *found = context;

    if (part->state == PART_LOST)
        return error_lost(store, part, err);
    *found += 1;
    return BOXCAR_OK;
}

static boxcar_status drop(struct sqlite_store *store, const struct sqlite_part *part, boxcar_error *err) {
    char *text = sqlite3_mprintf("drop %s \"%w\"", part->type, part->name);
    int rc = text ? sqlite3_exec(store->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(text);
    return rc == SQLITE_OK ? BOXCAR_OK : sqlite_error(store, rc, err);
}

static boxcar_status make_again(struct sqlite_store *store, const struct sqlite_part *part, void *context,
                                boxcar_error *err) {
    boxcar_status status = part->state == PART_CHANGED ? drop(store, part, err) : BOXCAR_OK;
    int rc;

    (void)context;
    if (status != BOXCAR_OK)
        return status;
    rc = sqlite3_exec(store->db, part->text, NULL, NULL, NULL);
    if ((rc & 0xff) == SQLITE_CONSTRAINT)
        return error_set(
            err, BOXCAR_E_STORE,
            "%s: the %s %s is missing and cannot be made again: %s: remove what is in its way, then run "
            "`boxcar init` again",
            store->base.id, part->type, part->name, sqlite3_errmsg(store->db));
    if (rc != SQLITE_OK)
        return sqlite_error(store, rc, err);
    store_log(&store->base, BOXCAR_LOG_WARN, "deploy", NULL, 0, "the %s %s was %s and is made again",
              part->type, part->name, part->state == PART_CHANGED ? "changed" : "missing");
    return BOXCAR_OK;
}

struct repairing {
    sqlite3 *model;
    int found;
};

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct repairing *repairing = context;

    repairing->found = 0;
    return sqlite_compare(store, repairing->model, count, &repairing->found, err);
}

static boxcar_status mend(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct repairing *repairing = context;
    boxcar_status status = look(store, context, err);

    return status == BOXCAR_OK ? sqlite_compare(store, repairing->model, make_again, NULL, err) : status;
}

boxcar_status sqlite_repair(struct sqlite_store *store, int *ret_mended, boxcar_error *err) {
    AUTO_MODEL sqlite3 *model = NULL;
    struct repairing repairing = {0};
    boxcar_status status = sqlite_model_open(store, &model, err);

    repairing.model = model;
    if (status == BOXCAR_OK)
        status = sqlite_transaction(store, ACCESS_READ, look, &repairing, err);
    if (status == BOXCAR_OK && repairing.found > 0)
        status = sqlite_transaction(store, ACCESS_WRITE, mend, &repairing, err);
    if (status == BOXCAR_OK)
        *ret_mended = repairing.found;
    return status;
}

boxcar_status sqlite_check_empty(struct sqlite_store *store, boxcar_error *err) {
    sqlite3_stmt *stmt = NULL;
    boxcar_status status = BOXCAR_OK;
    int rc = sqlite3_prepare_v2(
        store->db,
        "select name from sqlite_schema where type = 'table' and name in ('boxcar_message', "
        "'boxcar_frontier', 'boxcar_lease', 'boxcar_parked', 'boxcar_setting') limit 1",
        -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        status = error_set(
            err, BOXCAR_E_STORE,
            "%s has the table %s, but boxcar_schema is missing or empty: restore the file from a backup",
            store->base.id, (const char *)sqlite3_column_text(stmt, 0));
    else if (rc != SQLITE_DONE)
        status = sqlite_error(store, rc, err);
    sqlite3_finalize(stmt);
    return status;
}
