/* Makes parts of a deployed store again that were dropped or changed. */
#include "deploy.h"
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
    if (part->state == PART_LOST)
        return error_lost(store, part, err);
    *(int *)context += 1;
    return BOXCAR_OK;
}

static boxcar_status drop(struct sqlite_store *store, const struct sqlite_part *part, boxcar_error *err) {
    char *text = sqlite3_mprintf("drop %s \"%w\"", part->type, part->name);
    boxcar_status status = text != NULL ? sqlite_exec(store, text, err) : error_no_memory(err);
    sqlite3_free(text);
    return status;
}

static boxcar_status make_again(struct sqlite_store *store, const struct sqlite_part *part, void *context,
                                boxcar_error *err) {
    (void)context;
    if (part->state == PART_CHANGED)
        TRY(drop(store, part, err));
    boxcar_status status = sqlite_exec(store, part->text, err);
    if (status != BOXCAR_OK && (store->last_rc & 0xff) == SQLITE_CONSTRAINT)
        return error_set(
            err, BOXCAR_E_STORE,
            "%s: the %s %s is missing and cannot be made again: %s: remove what is in its way, then run "
            "`boxcar init` again",
            store->base.id, part->type, part->name, sqlite3_errmsg(store->db));
    TRY(status);
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
    TRY(look(store, context, err));
    return sqlite_compare(store, ((struct repairing *)context)->model, make_again, NULL, err);
}

boxcar_status sqlite_repair(struct sqlite_store *store, int *ret_mended, boxcar_error *err) {
    AUTO_MODEL sqlite3 *model = NULL;
    TRY(sqlite_model_open(store, &model, err));
    struct repairing repairing = {.model = model};
    TRY(sqlite_transaction(store, ACCESS_READ, look, &repairing, err));
    if (repairing.found > 0)
        TRY(sqlite_transaction(store, ACCESS_WRITE, mend, &repairing, err));
    *ret_mended = repairing.found;
    return BOXCAR_OK;
}

boxcar_status sqlite_check_empty(struct sqlite_store *store, boxcar_error *err) {
    AUTO_QUERY struct query query = query_once(
        store, "select name from sqlite_schema where type = 'table' and name in ('boxcar_message', "
               "'boxcar_frontier', 'boxcar_lease', 'boxcar_parked', 'boxcar_setting') limit 1");
    if (!query_next(&query))
        return query_status(&query, err);
    return error_set(
        err, BOXCAR_E_STORE,
        "%s has the table %s, but boxcar_schema is missing or empty: restore the file from a backup",
        store->base.id, query_get_text(&query, 0).data);
}
