/* Finds parts of a deployed store that were dropped or changed: it compares the store with one in memory that
 * is deployed for the comparison. */
#include <string.h>

#include "base/utf8.h"
#include "deploy.h"
#include "embedded.h"
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

static boxcar_status error_model(const struct sqlite_store *store, sqlite3 *model, boxcar_error *err) {
    return error_set(err, BOXCAR_E_STORE, "%s cannot be compared with a new store: %s", store->base.id,
                     sqlite3_errmsg(model));
}

void sqlite_model_close(sqlite3 **model) { sqlite3_close(*model); }

boxcar_status sqlite_model_open(struct sqlite_store *store, sqlite3 **ret_model, boxcar_error *err) {
    int rc = sqlite3_open(":memory:", ret_model);
    for (const struct sql_file *file = SQL_SQLITE; rc == SQLITE_OK && file->name != NULL; file++)
        rc = sqlite3_exec(*ret_model, file->text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? BOXCAR_OK : error_model(store, *ret_model, err);
}

static struct query query_model(struct sqlite_store *store, sqlite3 *model, const char *sql) {
    struct query query = {.store = store, .once = true};
    query.rc = sqlite3_prepare_v2(model, sql, -1, &query.stmt, NULL);
    return query;
}

/* ---- objects ---- */

enum presence { THERE, ABSENT, DIFFERENT };

static boxcar_status look_for(struct sqlite_store *store, const struct sqlite_part *part,
                              enum presence *ret_presence, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_once(store, "select sql is ?3 from sqlite_schema where type = ?1 and name = ?2");
    query_bind(&query, QUERY_VALUES(Q_TEXT(boxcar_str_of(part->type)), Q_TEXT(boxcar_str_of(part->name)),
                                    Q_TEXT(boxcar_str_of(part->text))));
    if (query_next(&query))
        *ret_presence = query_get_int(&query, 0) ? THERE : DIFFERENT;
    else
        *ret_presence = ABSENT;
    return query_status(&query, err);
}

/* ---- tables: their texts differ with the ways they came about, so their features are compared ---- */

static boxcar_status has_feature(struct query *there, const char *feature, bool *ret_has, boxcar_error *err) {
    sqlite3_reset(there->stmt);
    *ret_has = false;
    while (!*ret_has && query_next(there))
        *ret_has = str_equal(query_get_text(there, 0), boxcar_str_of(feature));
    return query_status(there, err);
}

static boxcar_status compare_table(struct sqlite_store *store, sqlite3 *model, const char *table,
                                   sqlite_part_fn *report, void *context, boxcar_error *err) {
    AUTO_QUERY struct query wanted = query_model(store, model, FEATURES);
    AUTO_QUERY struct query there = query_once(store, FEATURES);
    query_bind(&wanted, QUERY_VALUES(Q_TEXT(boxcar_str_of(table))));
    query_bind(&there, QUERY_VALUES(Q_TEXT(boxcar_str_of(table))));
    while (query_next(&wanted)) {
        const char *feature = query_get_text(&wanted, 0).data;
        struct sqlite_part part = {.state = PART_LOST, .type = "table", .name = table, .feature = feature};
        bool has = false;
        if (feature == NULL)
            return error_no_memory(err);
        TRY(has_feature(&there, feature, &has, err));
        if (!has)
            TRY(report(store, &part, context, err));
    }
    return wanted.rc == SQLITE_OK ? BOXCAR_OK : error_model(store, model, err);
}

/* ---- all together ---- */

static boxcar_status compare_object(struct sqlite_store *store, sqlite3 *model, struct sqlite_part part,
                                    sqlite_part_fn *report, void *context, boxcar_error *err) {
    bool is_table = strcmp(part.type, "table") == 0;
    enum presence presence;
    TRY(look_for(store, &part, &presence, err));
    if (is_table && presence != ABSENT)
        return compare_table(store, model, part.name, report, context, err);
    if (presence == THERE)
        return BOXCAR_OK;
    part.state = is_table ? PART_LOST : presence == ABSENT ? PART_MISSING : PART_CHANGED;
    return report(store, &part, context, err);
}

boxcar_status sqlite_compare(struct sqlite_store *store, sqlite3 *model, sqlite_part_fn *report,
                             void *context, boxcar_error *err) {
    AUTO_QUERY struct query parts =
        query_model(store, model,
                    "select type, name, sql from sqlite_schema where sql is not null "
                    "and name like 'boxcar\\_%' escape '\\' order by rowid");
    while (query_next(&parts)) {
        struct sqlite_part part = {.type = query_get_text(&parts, 0).data,
                                   .name = query_get_text(&parts, 1).data,
                                   .text = query_get_text(&parts, 2).data};
        if (part.type == NULL || part.name == NULL || part.text == NULL)
            return error_no_memory(err);
        TRY(compare_object(store, model, part, report, context, err));
    }
    return parts.rc == SQLITE_OK ? BOXCAR_OK : error_model(store, model, err);
}
