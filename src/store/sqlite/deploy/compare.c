/* Finds parts of a deployed store that were dropped or changed: it compares the store with one in memory that
 * is deployed for the comparison. */
#include <string.h>

#include "base/memory.h"
#include "embedded.h"
#include "parts.h"
#include "store/sqlite/connection/connection.h"

/* What a table has besides its rows, in words: its columns, keys and checks. */
#define FEATURES                                                                                             \
    "select 'column ' || name from pragma_table_info(?1) "                                                   \
    "union all select 'not null of column ' || name from pragma_table_info(?1) where \"notnull\" "           \
    "union all select 'primary key (' || group_concat(name, ', ') || ')' "                                   \
    "from (select name from pragma_table_info(?1) where pk > 0 order by pk) having count(*) > 0 "            \
    "union all select 'unique key (' || (select group_concat(c.name, ', ') from pragma_index_info(i.name) "  \
    "c) || ')' "                                                                                             \
    "from pragma_index_list(?1) i where i.origin = 'u' "                                                     \
    "union all select 'check' from sqlite_schema where type = 'table' and name = ?1 and sql like '%check "   \
    "(%'"

void sqlite_model_close(sqlite3 **model) { sqlite3_close(*model); }

boxcar_status sqlite_model_open(struct sqlite_store *store, sqlite3 **ret_model, boxcar_error *err) {
    int rc = sqlite3_open(":memory:", ret_model);

    for (const struct sql_file *file = SQL_SQLITE; rc == SQLITE_OK && file->name != NULL; file++)
        rc = sqlite3_exec(*ret_model, file->text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? BOXCAR_OK
                           : error_set(err, BOXCAR_E_STORE, "%s cannot be compared with a new store: %s",
                                       store->base.id, sqlite3_errmsg(*ret_model));
}

/* ---- objects ---- */

enum presence { THERE, ABSENT, DIFFERENT };

static boxcar_status look_for(struct sqlite_store *store, const char *type, const char *name,
                              const char *text, enum presence *ret_presence, boxcar_error *err) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(
        store->db, "select sql is ?3 from sqlite_schema where type = ?1 and name = ?2", -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 1, type, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 3, text, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    *ret_presence = rc != SQLITE_ROW ? ABSENT : sqlite3_column_int(stmt, 0) ? THERE : DIFFERENT;
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? BOXCAR_OK : sqlite_error(store, rc, err);
}

/* ---- tables: their texts differ with the ways they came about, so their features are compared ---- */

static int prepare_features(sqlite3 *db, const char *table, sqlite3_stmt **ret_stmt) {
    int rc = sqlite3_prepare_v2(db, FEATURES, -1, ret_stmt, NULL);

    return rc == SQLITE_OK ? sqlite3_bind_text(*ret_stmt, 1, table, -1, SQLITE_STATIC) : rc;
}

static bool has_feature(sqlite3_stmt *stmt, const char *feature, int *ret_rc) {
    bool found = false;

    sqlite3_reset(stmt);
    while (!found && (*ret_rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        found = text != NULL && strcmp(text, feature) == 0;
    }
    return found;
}

static boxcar_status compare_features(struct sqlite_store *store, sqlite3_stmt *wanted, sqlite3_stmt *there,
                                      const char *table, sqlite_part_fn *report, void *context,
                                      boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    while (status == BOXCAR_OK && sqlite3_step(wanted) == SQLITE_ROW) {
        const char *feature = (const char *)sqlite3_column_text(wanted, 0);
        struct sqlite_part part = {.state = PART_LOST, .type = "table", .name = table, .feature = feature};
        int rc = SQLITE_DONE;

        if (feature == NULL)
            return error_no_memory(err);
        if (has_feature(there, feature, &rc))
            continue;
        status = rc == SQLITE_DONE ? report(store, &part, context, err) : sqlite_error(store, rc, err);
    }
    return status;
}

static boxcar_status compare_table(struct sqlite_store *store, sqlite3 *model, const char *table,
                                   sqlite_part_fn *report, void *context, boxcar_error *err) {
    sqlite3_stmt *wanted = NULL, *there = NULL;
    boxcar_status status;

    if (prepare_features(model, table, &wanted) != SQLITE_OK)
        status = error_set(err, BOXCAR_E_STORE, "%s cannot be compared with a new store: %s", store->base.id,
                           sqlite3_errmsg(model));
    else if (prepare_features(store->db, table, &there) != SQLITE_OK)
        status = sqlite_error(store, sqlite3_errcode(store->db), err);
    else
        status = compare_features(store, wanted, there, table, report, context, err);
    sqlite3_finalize(wanted);
    sqlite3_finalize(there);
    return status;
}

/* ---- all together ---- */

static boxcar_status compare_object(struct sqlite_store *store, sqlite3 *model, struct sqlite_part part,
                                    sqlite_part_fn *report, void *context, boxcar_error *err) {
    bool is_table = strcmp(part.type, "table") == 0;
    enum presence presence = THERE;
    boxcar_status status = look_for(store, part.type, part.name, part.text, &presence, err);

    if (status != BOXCAR_OK)
        return status;
    if (is_table && presence != ABSENT)
        return compare_table(store, model, part.name, report, context, err);
    if (presence == THERE)
        return BOXCAR_OK;
    part.state = is_table ? PART_LOST : presence == ABSENT ? PART_MISSING : PART_CHANGED;
    return report(store, &part, context, err);
}

boxcar_status sqlite_compare(struct sqlite_store *store, sqlite3 *model, sqlite_part_fn *report,
                             void *context, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(model,
                                "select type, name, sql from sqlite_schema where sql is not null "
                                "and name like 'boxcar\\_%' escape '\\' order by rowid",
                                -1, &stmt, NULL);

    while (status == BOXCAR_OK && rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        struct sqlite_part part = {.type = (const char *)sqlite3_column_text(stmt, 0),
                                   .name = (const char *)sqlite3_column_text(stmt, 1),
                                   .text = (const char *)sqlite3_column_text(stmt, 2)};

        status = part.type && part.name && part.text
                     ? compare_object(store, model, part, report, context, err)
                     : error_no_memory(err);
    }
    if (rc != SQLITE_OK)
        status = error_set(err, BOXCAR_E_STORE, "%s cannot be compared with a new store: %s", store->base.id,
                           sqlite3_errmsg(model));
    sqlite3_finalize(stmt);
    return status;
}
